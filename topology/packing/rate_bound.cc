#include "topology/packing/rate_bound.h"

#include <algorithm>
#include <cstddef>

#include "topology/evaluation/simple_bound.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/dense_packing.h"
#include "topology/packing/partition_bound.h"
#include "topology/packing/tree_packing.h"

namespace banyan {
namespace {

// A bound may be this much above the best one.
constexpr double kAccuracy = 1e-3;

// More roots make the packing's program larger; those that are left out make its prices, not its proof, worse.
constexpr size_t kMaxRoots = 150;

}  // namespace

double RateBoundBps(const NetworkView& view) {
  const double bound_bps = std::min(SimpleBoundBps(view), PartitionBoundBps(view));
  const size_t nodes = view.nodes().size();
  if (nodes < 2 || !view.CheckConnected().ok()) return bound_bps;
  const CapacityGraph graph(view);
  if (IsDense(graph) && nodes > kMostNodesForPrograms) return std::min(bound_bps, DenseBoundBps(graph));
  PackingOptions options{.roots = {}, .seeds = {}, .candidates = {}, .accuracy = kAccuracy, .work = PackingWork(nodes)};
  for (size_t root = 0; root < std::min(nodes, kMaxRoots); ++root) options.roots.push_back(root);
  return std::min(bound_bps, PackTrees(graph, options).bound_bps);
}

}  // namespace banyan
