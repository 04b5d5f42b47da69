#include "scheduler/policy/policy_publisher.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/policy/link_budgets.h"
#include "scheduler/policy/link_table.h"
#include "topology/overlay/overlay_network.h"

namespace banyan {

void PolicyPublisher::Put(Policy policy, std::string reason, const NetworkView& view,
                          std::optional<OverlayText> overlay) {
  last_version_ = last_version_.Next();
  policy.version = last_version_;
  policy.epoch = job_->epoch();
  policy.key_table = keys_->version();
  context_->LogInfo(
      absl::StrFormat("policy %d: %s, %s, rate %.3g (%.3g with auxiliary paths) of at most %.3g Mbit/s, because of %s",
                      policy.version.value(), policy.planner, CountOf(policy.trees.size(), "tree"),
                      policy.rate_bps / 1e6, policy.auxiliary_rate_bps / 1e6, policy.bound_bps / 1e6, reason));
  const TransmissionSettings transmission = MakeTransmissionSettings(*overlay_);
  const NodeId source = ChooseSource(policy.members);
  const NetworkView believed = MakeNetworkView(*overlay_);
  context_->Persist(PolicyRecord{policy, reason, transmission, MeasuredLinks(view, believed), std::move(overlay),
                                 source, MissingLinks(view, believed)});
  const LinkBudgets budgets = MakeLinkBudgets(policy, view, overlay_->compression, keys_->Tensors());
  view_ = view;
  policies_.Add(std::move(policy), std::move(reason), view, transmission, Addresses(), budgets, source);
}

void PolicyPublisher::SendNewest() {
  for (const Member& member : members_->table().all()) {
    const std::vector<const PolicySlice*> slices = policies_.SlicesOf(member.id);
    if (slices.empty() || slices.back()->version != last_version_) continue;
    members_->SendTo(member.id, PolicyPublished{job_->term(), *slices.back()});
  }
}

void PolicyPublisher::SendAll(NodeId member) {
  members_->SendTo(member, PoliciesRetired{job_->term(), policies_.Oldest()});
  for (const PolicySlice* slice : policies_.SlicesOf(member)) {
    members_->SendTo(member, PolicyPublished{job_->term(), *slice});
  }
}

void PolicyPublisher::Retire(PolicyVersion oldest) {
  if (policies_.Retire(oldest)) members_->Broadcast(PoliciesRetired{job_->term(), oldest});
}

void PolicyPublisher::Restore(const PolicyRecord& record, const NetworkView& view) {
  view_ = view;
  policies_.Add(record.policy, record.reason, view, record.transmission, Addresses(),
                MakeLinkBudgets(record.policy, view, overlay_->compression, keys_->Tensors()), record.source);
}

NodeId PolicyPublisher::ChooseSource(const std::vector<NodeId>& members) const {
  const auto rank = [this](NodeId node) {
    const Member& member = members_->table().Find(node);
    return std::tuple(member.Silence(), member.joined_in, node);
  };
  return *std::min_element(members.begin(), members.end(), [&rank](NodeId a, NodeId b) { return rank(a) < rank(b); });
}

std::map<NodeId, NodeAddress> PolicyPublisher::Addresses() const {
  std::map<NodeId, NodeAddress> addresses;
  for (const Member& member : members_->table().all()) {
    addresses[member.id] = NodeAddress{member.address, member.incarnation};
  }
  return addresses;
}

}  // namespace banyan
