#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/planners/shortest_paths.h"

namespace banyan {
namespace {

std::map<NodeId, NodeId> ParentsById(const NetworkView& view, const ShortestPathTree& paths) {
  std::map<NodeId, NodeId> parents;
  for (size_t i = 0; i < paths.parent.size(); ++i) {
    if (paths.parent[i] != i) {
      parents.emplace_hint(parents.end(), view.nodes()[i].id, view.nodes()[paths.parent[i]].id);
    }
  }
  return parents;
}

// Positions of the `count` nodes whose trees have the best quality, of equal ones the lowest ids; in order of id.
std::vector<size_t> BestRoots(const ShortestPaths& paths, size_t nodes, size_t count) {
  std::vector<size_t> roots(nodes);
  for (size_t i = 0; i < nodes; ++i) roots[i] = i;
  if (count == nodes) return roots;
  std::vector<double> delay(nodes);
  for (size_t i = 0; i < nodes; ++i) delay[i] = paths.ToRoot(i).Depth() + paths.FromRoot(i).Depth();
  std::stable_sort(roots.begin(), roots.end(), [&delay](size_t a, size_t b) { return delay[a] < delay[b]; });
  roots.resize(count);
  std::sort(roots.begin(), roots.end());
  return roots;
}

}  // namespace

absl::StatusOr<Policy> PlanFapt(const NetworkView& view, const PlannerConfig& config) {
  if (absl::Status status = CheckPlannable(view); !status.ok()) return status;
  const size_t nodes = view.nodes().size();
  const int wanted = config.roots.value_or(kMaxRootsOfAll);
  if (wanted < 1) return absl::InvalidArgumentError(absl::StrCat("roots must be at least 1, got ", wanted));
  const ShortestPaths paths(view);
  const std::optional<size_t> root = wanted == 1 && config.root.has_value() ? view.IndexOf(*config.root) : std::nullopt;
  const std::vector<size_t> roots =
      root.has_value() ? std::vector<size_t>{*root} : BestRoots(paths, nodes, std::min<size_t>(wanted, nodes));
  std::vector<Tree> trees;
  for (const size_t root : roots) {
    trees.push_back({.root = view.nodes()[root].id,
                     .share = 0,
                     .reduce_parent = ParentsById(view, paths.ToRoot(root)),
                     .broadcast_parent = ParentsById(view, paths.FromRoot(root))});
  }
  RouteTable routes(&view);
  ShareByQuality(trees, routes);
  return AssemblePolicy("fapt", config, std::move(trees), routes);
}

}  // namespace banyan
