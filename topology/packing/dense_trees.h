// From a packing of many half trees that are shallow already to a plan's trees: the largest ones. Pure function.
#ifndef BANYAN_TOPOLOGY_PACKING_DENSE_TREES_H_
#define BANYAN_TOPOLOGY_PACKING_DENSE_TREES_H_

#include <vector>

#include "topology/packing/packed_trees.h"
#include "topology/packing/tree_packing.h"

namespace banyan {

// Pairs what is reduced on a root with what is broadcast from it, the largest volumes with each other, so that few are
// split. Returns the largest pairs that sum to `rate_bps`, the largest first, or all pairs. Positions are those in
// packing.halves.
std::vector<HalfPair> LargestPairs(const TreePacking& packing, double rate_bps);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_DENSE_TREES_H_
