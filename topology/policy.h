// A decision of the scheduler about how gradients travel: trees with their shares, and the routes of tree edges that
// have no direct link. A value, immutable once published.
#ifndef BANYAN_TOPOLOGY_POLICY_H_
#define BANYAN_TOPOLOGY_POLICY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {

// A root and two spanning arborescences on it. Both maps hold every member except the root.
struct Tree {
  NodeId root;
  double share = 0;                           // of all chunks' elements; the shares of a policy sum to 1
  std::map<NodeId, NodeId> reduce_parent;     // node -> the node it sends its sum to
  std::map<NodeId, NodeId> broadcast_parent;  // node -> the node it gets results from

  friend bool operator==(const Tree&, const Tree&) = default;
};

// A forward-only path: no node twice, each hop a link.
struct Route {
  NodeId from;
  NodeId to;
  std::vector<NodeId> path;  // both ends included
  // The path's part of what the tree edge carries, with ideal use of all auxiliary paths; of auxiliary paths only.
  double share = 0;

  friend bool operator==(const Route&, const Route&) = default;
};

struct Policy {
  PolicyVersion version;
  Epoch epoch;
  KeyTableVersion key_table;
  std::string planner;
  std::vector<NodeId> members;   // ascending
  std::vector<Tree> trees;       // indexed by TreeIndex
  std::vector<Route> routes;     // one for each tree edge without a direct link, ascending by (from, to)
  std::vector<Route> auxiliary;  // auxiliary paths of tree edges, the fastest first, ascending by (from, to)
  int64_t chunk_max_elements = 0;
  // All-reduce rates that the links allow; infinite for a single member.
  double rate_bps = 0;            // over the trees' edges alone: the most loaded link decides
  double auxiliary_rate_bps = 0;  // with ideal use of the auxiliary paths; rate_bps when there are none
  // That no scheme can beat: of planners the simple bound, or what the prices of `packed` prove where that is less. Who
  // shows or judges a plan puts the tightest one here, from RateBoundBps in topology/packing/rate_bound.h, which takes
  // longer than a plan.
  double bound_bps = 0;
  // The time that a round is predicted to take (topology/evaluation/round_time.h), with ideal use of the auxiliary
  // paths; 0 while the model's size is unknown.
  absl::Duration round_time;

  friend bool operator==(const Policy&, const Policy&) = default;
};

// The part of the bound that the policy reaches, with ideal use of its auxiliary paths; no number for a single member.
inline double BoundRatio(const Policy& policy) { return policy.auxiliary_rate_bps / policy.bound_bps; }

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_POLICY_H_
