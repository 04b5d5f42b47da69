#include <cstddef>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "topology/planners/planners.h"

namespace banyan {
namespace {

// An edge that would join `node` to the tree under `parent`, as Prim's algorithm sees it.
struct Candidate {
  double throughput_bps = 0;
  NodeId node;
  NodeId parent;

  // The fastest edge comes first, then the lower ids.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.throughput_bps, b.parent, b.node) < std::tie(b.throughput_bps, a.parent, a.node);
  }
};

using Candidates = std::map<NodeId, std::vector<Candidate>>;  // by parent

// Both halves' edges: a reduce edge is the link from node to parent, a broadcast edge the one from parent to node.
Candidates ReduceCandidates(const NetworkView& view) {
  Candidates candidates;
  for (const NetworkLink& link : view.links()) {
    candidates[link.to].push_back({link.throughput_bps, link.from, link.to});
  }
  return candidates;
}

Candidates BroadcastCandidates(const NetworkView& view) {
  Candidates candidates;
  for (const NetworkLink& link : view.links()) {
    candidates[link.from].push_back({link.throughput_bps, link.to, link.from});
  }
  return candidates;
}

std::map<NodeId, NodeId> Grow(const Candidates& candidates, NodeId root) {
  std::map<NodeId, NodeId> parents;
  std::priority_queue<Candidate> open;
  const auto push_all = [&candidates, &open](NodeId parent) {
    const auto found = candidates.find(parent);
    if (found == candidates.end()) return;
    for (const Candidate& candidate : found->second) open.push(candidate);
  };
  push_all(root);
  while (!open.empty()) {
    const Candidate best = open.top();
    open.pop();
    if (best.node == root || !parents.emplace(best.node, best.parent).second) continue;
    push_all(best.node);
  }
  return parents;
}

}  // namespace

absl::StatusOr<Policy> PlanMst(const NetworkView& view, const PlannerConfig& config) {
  const Candidates reduce = ReduceCandidates(view);
  const Candidates broadcast = BroadcastCandidates(view);
  return PlanOneRoot("mst", view, config, [&reduce, &broadcast](NodeId root) {
    return Tree{
        .root = root, .share = 1, .reduce_parent = Grow(reduce, root), .broadcast_parent = Grow(broadcast, root)};
  });
}

}  // namespace banyan
