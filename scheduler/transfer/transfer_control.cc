#include "scheduler/transfer/transfer_control.h"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

using Neighbours = std::map<NodeId, std::set<NodeId>>;
using Edges = std::set<std::pair<NodeId, NodeId>>;

void AddNeighbours(NodeId a, NodeId b, Neighbours& neighbours) {
  neighbours[a].insert(b);
  neighbours[b].insert(a);
}

void JoinHops(const std::vector<Route>& routes, Neighbours& neighbours) {
  for (const Route& route : routes) {
    for (size_t i = 1; i < route.path.size(); ++i) AddNeighbours(route.path[i - 1], route.path[i], neighbours);
  }
}

Neighbours NeighboursIn(const Policy& policy) {
  Neighbours neighbours;
  Edges routed;  // tree edges that are no links
  for (const Route& route : policy.routes) routed.emplace(route.from, route.to);
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) {
      if (routed.count({node, parent}) == 0) AddNeighbours(node, parent, neighbours);
    }
    for (const auto& [node, parent] : tree.broadcast_parent) {
      if (routed.count({parent, node}) == 0) AddNeighbours(parent, node, neighbours);
    }
  }
  JoinHops(policy.routes, neighbours);
  JoinHops(policy.auxiliary, neighbours);
  return neighbours;
}

}  // namespace

std::map<NodeId, std::vector<NodeId>> PathsFrom(NodeId from, const Policy& policy) {
  const Neighbours neighbours = NeighboursIn(policy);
  std::map<NodeId, std::vector<NodeId>> paths = {{from, {from}}};
  std::deque<NodeId> reached = {from};
  while (!reached.empty()) {
    const NodeId node = reached.front();
    reached.pop_front();
    const auto found = neighbours.find(node);
    if (found == neighbours.end()) continue;
    for (NodeId next : found->second) {
      std::vector<NodeId> path = paths.at(node);
      path.push_back(next);
      if (paths.emplace(next, std::move(path)).second) reached.push_back(next);
    }
  }
  return paths;
}

StateTransfer& TransferControl::transfer() {
  if (transfer_ != nullptr) return *transfer_;
  transfer_ = std::make_unique<StateTransfer>(
      StateTransfer::Settings{parts_.job->term()},
      StateTransfer::Surroundings{[this](NodeId node) { return parts_.members->NameOf(node); },
                                  [this](NodeId from) { return PathsOf(from); },
                                  [this] { return DescribeProgress(); }});
  OnMembersChanged();
  return *transfer_;
}

std::string TransferControl::DescribeProgress() const {
  if (parts_.nodes_have_parameters) return "";
  KeyId furthest;
  Round open;
  for (KeyId key(1); parts_.keys->Contains(key); key = key.Next()) {
    if (parts_.rounds->FirstOpen(key) <= open) continue;
    furthest = key;
    open = parts_.rounds->FirstOpen(key);
  }
  if (open == Round(0)) return "";
  return absl::StrCat("the job is past round ", open.value() - 1, " of key '", parts_.keys->NameOf(furthest), "'");
}

std::map<NodeId, std::vector<NodeId>> TransferControl::PathsOf(NodeId node) const {
  const Policy* policy = parts_.policies->Current();
  return policy == nullptr ? std::map<NodeId, std::vector<NodeId>>() : PathsFrom(node, *policy);
}

void TransferControl::SendPaths(NodeId node) {
  StateHolders holders{parts_.job->term(), kReplicaTransfers, 0, 0, {}, {}};
  bool has_left = false;
  bool has_giver = false;
  lacking_.insert(node);
  for (auto& [other, path] : PathsOf(node)) {
    const Member& member = parts_.members->table().Find(other);
    if (other == node || !member.is_member) continue;
    has_left = has_left || member.state == MemberState::kLeft;
    if (member.state == MemberState::kLeft) continue;
    holders.paths.push_back(path);
    has_giver = has_giver || !lacking_.contains(other);
  }
  if (!holders.paths.empty()) parts_.members->SendTo(node, std::move(holders));
  // In the next one it is seen whether anybody can give anything.
  if (has_left && !has_giver)
    begin_epoch_(absl::StrCat("all nodes have left that had what ", parts_.members->NameOf(node), " lacks"));
}

void TransferControl::OnMembersChanged() {
  if (transfer_ == nullptr) return;
  StateTransfer::Members members;
  for (const EpochMember& member : parts_.members->table().EpochMembers()) {
    // Who has left says nothing any more, though it may stay a member for a while.
    const bool has_left = parts_.members->table().Find(member.node).state == MemberState::kLeft;
    if (!has_left) members[member.node] = member.incarnation;
  }
  Apply(transfer_->SetMembers(members));
}

void TransferControl::Apply(StateTransfer::Outcome outcome) {
  std::string reason;
  for (std::string& line : outcome.log) {
    reason = line;
    parts_.context->LogInfo(std::move(line));
  }
  for (auto& [node, message] : outcome.messages) parts_.members->SendTo(node, std::move(message));
  if (outcome.begins_epoch) begin_epoch_(reason);
}

}  // namespace banyan
