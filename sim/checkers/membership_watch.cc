#include "sim/checkers/membership_watch.h"

#include <algorithm>
#include <variant>

namespace banyan {

void MembershipWatch::OnProcessStarted(Timestamp /*now*/, NodeId process) {
  joined_in_.erase(process);
  ++starts_[process];
  left_.erase(process);
}

void MembershipWatch::OnSent(const SentMessage& sent) {
  if (std::holds_alternative<Leave>(sent.message)) left_.insert(sent.from);
  // No node says any of these.
  if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
    OnPolicy(sent.to, published->slice);
  } else if (const auto* begin = std::get_if<EpochBegin>(&sent.message)) {
    begun_ = std::max(begun_, begin->epoch);
  } else if (const auto* update = std::get_if<MembershipUpdate>(&sent.message)) {
    // A restarted scheduler tells who joins of the newest epoch before it says that the next one begins.
    begun_ = std::max(begun_, update->epoch);
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    begun_ = std::max(begun_, plan->epoch);
    joined_in_.try_emplace(sent.to, plan->epoch);
  }
}

void MembershipWatch::OnPolicy(NodeId to, const PolicySlice& slice) {
  // Whoever joins later may be sent policies of epochs before its own.
  if (slice.epoch >= begun_) joined_in_.try_emplace(to, slice.epoch);
  epoch_ = std::max(epoch_, slice.epoch);
  Members& members = members_[slice.epoch];
  members.count = slice.member_count;
  members.known.insert(to);
  for (const TreeSlice& tree : slice.trees) {
    members.known.insert(tree.root);
    if (tree.reduce_parent.has_value()) members.known.insert(*tree.reduce_parent);
    if (tree.broadcast_parent.has_value()) members.known.insert(*tree.broadcast_parent);
    members.known.insert(tree.reduce_children.begin(), tree.reduce_children.end());
    members.known.insert(tree.broadcast_children.begin(), tree.broadcast_children.end());
  }
}

bool MembershipWatch::IsMember(NodeId node, Epoch epoch) const {
  const auto found = members_.find(epoch);
  return found != members_.end() && found->second.known.contains(node);
}

std::optional<std::set<NodeId>> MembershipWatch::MembersOf(Epoch epoch) const {
  const auto found = members_.find(epoch);
  if (found == members_.end() || found->second.known.size() != found->second.count) return std::nullopt;
  return found->second.known;
}

std::optional<Epoch> MembershipWatch::JoinedIn(NodeId node) const {
  const auto found = joined_in_.find(node);
  if (found == joined_in_.end()) return std::nullopt;
  return found->second;
}

uint32_t MembershipWatch::StartsOf(NodeId node) const {
  const auto found = starts_.find(node);
  return found == starts_.end() ? 0 : found->second;
}

bool MembershipWatch::HasSameMembersSince(Epoch epoch) const {
  const std::optional<std::set<NodeId>> first = MembersOf(epoch);
  if (!first.has_value()) return false;
  return std::all_of(members_.lower_bound(epoch), members_.end(),
                     [&](const auto& members) { return members.second.known == *first; });
}

}  // namespace banyan
