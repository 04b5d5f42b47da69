#include "scheduler/policy/published_policies.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {

void PublishedPolicies::Add(Policy policy, std::string reason, const NetworkView& view,
                            const TransmissionSettings& transmission, const std::map<NodeId, NodeAddress>& addresses,
                            const LinkBudgets& budgets, NodeId source) {
  BANYAN_CHECK(policies_.empty() || policies_.rbegin()->first < policy.version);
  std::map<NodeId, PolicySlice> slices = MakeSlices(policy, view, transmission, addresses, budgets);
  if (source == NodeId() && !policy.members.empty()) source = policy.members.front();
  for (auto& [node, slice] : slices) slice.source = source;
  const PolicyVersion version = policy.version;
  policies_.emplace(version, Published{std::move(policy), std::move(reason), source, std::move(slices)});
}

bool PublishedPolicies::Retire(PolicyVersion oldest) {
  BANYAN_CHECK(Contains(oldest));
  const auto end = policies_.find(oldest);
  const bool some = end != policies_.begin();
  policies_.erase(policies_.begin(), end);
  return some;
}

const Policy* PublishedPolicies::Current() const {
  return policies_.empty() ? nullptr : &policies_.rbegin()->second.policy;
}

std::string PublishedPolicies::CurrentReason() const {
  return policies_.empty() ? std::string() : policies_.rbegin()->second.reason;
}

PolicyVersion PublishedPolicies::Oldest() const {
  return policies_.empty() ? PolicyVersion(0) : policies_.begin()->first;
}

int64_t PublishedPolicies::SmallestChunk() const {
  BANYAN_CHECK(!policies_.empty());
  const auto smallest = std::min_element(policies_.begin(), policies_.end(), [](const auto& a, const auto& b) {
    return a.second.policy.chunk_max_elements < b.second.policy.chunk_max_elements;
  });
  return smallest->second.policy.chunk_max_elements;
}

int64_t PublishedPolicies::ChunkOf(PolicyVersion version) const {
  BANYAN_CHECK(Contains(version));
  return policies_.at(version).policy.chunk_max_elements;
}

NodeId PublishedPolicies::CurrentSource() const {
  BANYAN_CHECK(!policies_.empty());
  return policies_.rbegin()->second.source;
}

std::vector<const PolicySlice*> PublishedPolicies::SlicesOf(NodeId member) const {
  std::vector<const PolicySlice*> slices;
  for (const auto& [version, published] : policies_) {
    if (const auto slice = published.slices.find(member); slice != published.slices.end())
      slices.push_back(&slice->second);
  }
  return slices;
}

}  // namespace banyan
