#include "topology/policy_check.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {
namespace {

constexpr double kShareTolerance = 1e-6;

absl::Status CheckMembers(const Policy& policy, const NetworkView& view) {
  if (policy.members.empty()) return absl::InvalidArgumentError("a policy needs at least one member");
  for (size_t i = 0; i < policy.members.size(); ++i) {
    if (view.FindNode(policy.members[i]) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("member ", policy.members[i].value(), " is not in the network"));
    }
    if (i > 0 && policy.members[i] <= policy.members[i - 1]) {
      return absl::InvalidArgumentError("the members of a policy must be ascending and different");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShares(const Policy& policy) {
  double sum = 0;
  for (const Tree& tree : policy.trees) {
    if (!(tree.share > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tree on node ", tree.root.value(), " must have a share above 0, got ", tree.share));
    }
    sum += tree.share;
  }
  if (!(std::abs(sum - 1) < kShareTolerance)) {
    return absl::InvalidArgumentError(absl::StrCat("the shares of all trees must sum to 1, got ", sum));
  }
  return absl::OkStatus();
}

// `auxiliary` routes are auxiliary paths of an edge; the others stand in for a link that does not exist. Either way the
// link from one end to the other must not be on them.
absl::Status CheckRoute(const Route& route, const std::set<NodeId>& members, const NetworkView& view) {
  const std::string what =
      absl::StrCat("the path from '", view.NameOf(route.from), "' to '", view.NameOf(route.to), "'");
  if (route.path.size() < 3 || route.path.front() != route.from || route.path.back() != route.to) {
    return absl::InvalidArgumentError(absl::StrCat(what, " must hold both ends and at least one relay"));
  }
  std::set<NodeId> seen;
  for (size_t i = 0; i < route.path.size(); ++i) {
    const NodeId at = route.path[i];
    if (members.count(at) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(what, " passes '", view.NameOf(at), "', which is no member"));
    }
    if (!seen.insert(at).second) {
      return absl::InvalidArgumentError(absl::StrCat(what, " passes '", view.NameOf(at), "' twice"));
    }
    if (i > 0 && view.FindLink(route.path[i - 1], at) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, " needs a link from '", view.NameOf(route.path[i - 1]),
                                                     "' to '", view.NameOf(at), "', which does not exist"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAllRoutes(const Policy& policy, const std::set<NodeId>& members, const NetworkView& view) {
  for (const std::vector<Route>* routes : {&policy.routes, &policy.auxiliary}) {
    const Route* last = nullptr;
    for (const Route& route : *routes) {
      if (absl::Status status = CheckRoute(route, members, view); !status.ok()) return status;
      const bool ascending = last == nullptr || std::tie(last->from, last->to) < std::tie(route.from, route.to);
      const bool same = last != nullptr && last->from == route.from && last->to == route.to;
      if (!ascending && !(same && routes == &policy.auxiliary)) {
        return absl::InvalidArgumentError("the routes of a policy must be ascending by (from, to)");
      }
      last = &route;
    }
  }
  return absl::OkStatus();
}

using Link = std::pair<NodeId, NodeId>;

// Takes the links of a path out of the free ones; false when one is taken already.
bool TakeLinks(const std::vector<NodeId>& path, std::set<Link>& taken) {
  bool free = true;
  for (size_t i = 1; i < path.size(); ++i) free = taken.insert({path[i - 1], path[i]}).second && free;
  return free;
}

// Auxiliary paths belong to tree edges and share no link with their edge's primary path or with each other.
absl::Status CheckAuxiliary(const Policy& policy, const NetworkView& view) {
  std::map<Link, std::set<Link>> taken;
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) taken[{node, parent}];
    for (const auto& [node, parent] : tree.broadcast_parent) taken[{parent, node}];
  }
  for (const Route& route : policy.routes) TakeLinks(route.path, taken[{route.from, route.to}]);
  for (const Route& route : policy.auxiliary) {
    const std::string what =
        absl::StrCat("the auxiliary path from '", view.NameOf(route.from), "' to '", view.NameOf(route.to), "'");
    const auto edge = taken.find({route.from, route.to});
    if (edge == taken.end()) return absl::InvalidArgumentError(absl::StrCat(what, " is of no tree edge"));
    if (!(route.share >= 0 && route.share <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat(what, " has the share ", route.share, ", not one of 0 to 1"));
    }
    if (!TakeLinks(route.path, edge->second)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " uses a link of the primary path or of another auxiliary path"));
    }
  }
  return absl::OkStatus();
}

// `used` gets the routes that some tree edge needs.
absl::Status CheckEdge(NodeId from, NodeId to, const std::set<std::pair<NodeId, NodeId>>& routed,
                       const NetworkView& view, std::set<std::pair<NodeId, NodeId>>& used) {
  if (view.FindLink(from, to) != nullptr) return absl::OkStatus();
  if (routed.count({from, to}) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("the tree edge from '", view.NameOf(from), "' to '", view.NameOf(to),
                                                   "' has neither a link nor a route"));
  }
  used.insert({from, to});
  return absl::OkStatus();
}

absl::Status CheckEdges(const Policy& policy, const NetworkView& view) {
  std::set<std::pair<NodeId, NodeId>> routed;
  std::set<std::pair<NodeId, NodeId>> used;
  for (const Route& route : policy.routes) routed.insert({route.from, route.to});
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) {
      if (absl::Status status = CheckEdge(node, parent, routed, view, used); !status.ok()) return status;
    }
    for (const auto& [node, parent] : tree.broadcast_parent) {
      if (absl::Status status = CheckEdge(parent, node, routed, view, used); !status.ok()) return status;
    }
  }
  if (used.size() != routed.size()) {
    return absl::InvalidArgumentError("a policy has a route that no tree edge without a link needs");
  }
  return absl::OkStatus();
}

absl::Status CheckHalf(const std::map<NodeId, NodeId>& parent_of, absl::string_view half, NodeId root,
                       const std::set<NodeId>& members, const NetworkView& view) {
  const std::string where = absl::StrCat("the ", half, " half of the tree on '", view.NameOf(root), "'");
  for (const auto& [node, parent] : parent_of) {
    const NodeId unknown = members.count(node) == 0 ? node : parent;
    if (members.count(unknown) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(where, " holds '", view.NameOf(unknown), "', which is no member"));
    }
    if (node == root) return absl::InvalidArgumentError(absl::StrCat(where, " gives its root a parent"));
  }
  // Nodes whose path to the root is known; each node is walked once.
  std::set<NodeId> rooted = {root};
  for (const NodeId member : members) {
    std::set<NodeId> walked;
    for (NodeId at = member; rooted.count(at) == 0;) {
      const auto found = parent_of.find(at);
      if (found == parent_of.end()) {
        return absl::InvalidArgumentError(absl::StrCat(where, " does not reach '", view.NameOf(at), "'"));
      }
      if (!walked.insert(at).second) {
        return absl::InvalidArgumentError(absl::StrCat(where, " has a cycle through '", view.NameOf(at), "'"));
      }
      at = found->second;
    }
    rooted.insert(walked.begin(), walked.end());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTree(const Tree& tree, const std::set<NodeId>& members, const NetworkView& view) {
  if (members.count(tree.root) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("the tree's root '", view.NameOf(tree.root), "' is no member"));
  }
  absl::Status status = CheckHalf(tree.reduce_parent, "reduce", tree.root, members, view);
  if (!status.ok()) return status;
  return CheckHalf(tree.broadcast_parent, "broadcast", tree.root, members, view);
}

absl::Status ValidatePolicy(const Policy& policy, const NetworkView& view) {
  if (absl::Status status = CheckMembers(policy, view); !status.ok()) return status;
  if (absl::Status status = CheckShares(policy); !status.ok()) return status;
  if (policy.chunk_max_elements < 1) {
    return absl::InvalidArgumentError("a policy's chunks must hold at least 1 element");
  }
  const std::set<NodeId> members(policy.members.begin(), policy.members.end());
  for (const Tree& tree : policy.trees) {
    if (absl::Status status = CheckTree(tree, members, view); !status.ok()) return status;
  }
  if (absl::Status status = CheckAllRoutes(policy, members, view); !status.ok()) return status;
  if (absl::Status status = CheckEdges(policy, view); !status.ok()) return status;
  return CheckAuxiliary(policy, view);
}

}  // namespace banyan
