#include "topology/packing/dense_trees.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace banyan {
namespace {

// A pair with less of the rate is a rounding error of the solver.
constexpr double kLeastDensePart = 1e-7;

struct Part {
  size_t half = 0;
  double volume_bps = 0;
};

struct Root {
  std::vector<Part> reduced;
  std::vector<Part> broadcast;
};

bool IsLarger(const Part& a, const Part& b) { return a.volume_bps > b.volume_bps; }

void PairDenseOnRoot(Root root, double least_bps, std::vector<HalfPair>& pairs) {
  // What is left of a half tree goes back to where its volume belongs.
  const auto take = [least_bps](std::vector<Part>& parts, double volume_bps) {
    Part part = parts.front();
    parts.erase(parts.begin());
    part.volume_bps -= volume_bps;
    if (part.volume_bps <= least_bps) return;
    parts.insert(std::upper_bound(parts.begin(), parts.end(), part, IsLarger), part);
  };
  for (std::vector<Part>* parts : {&root.reduced, &root.broadcast}) {
    std::stable_sort(parts->begin(), parts->end(), IsLarger);
  }
  while (!root.reduced.empty() && !root.broadcast.empty()) {
    const HalfPair pair{root.reduced.front().half, root.broadcast.front().half,
                        std::min(root.reduced.front().volume_bps, root.broadcast.front().volume_bps)};
    if (pair.volume_bps > least_bps) pairs.push_back(pair);
    take(root.reduced, pair.volume_bps);
    take(root.broadcast, pair.volume_bps);
  }
}

}  // namespace

std::vector<HalfPair> LargestPairs(const TreePacking& packing, double rate_bps) {
  std::map<size_t, Root> roots;
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    Root& root = roots[packing.halves[i].root];
    const Part part{i, packing.volumes_bps[i]};
    (packing.halves[i].half == Half::kReduce ? root.reduced : root.broadcast).push_back(part);
  }
  std::vector<HalfPair> pairs;
  for (auto& [position, root] : roots) PairDenseOnRoot(std::move(root), kLeastDensePart * packing.rate_bps, pairs);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const HalfPair& a, const HalfPair& b) { return a.volume_bps > b.volume_bps; });
  double sum_bps = 0;
  size_t count = 0;
  while (count < pairs.size() && sum_bps < rate_bps) sum_bps += pairs[count++].volume_bps;
  pairs.resize(count);
  return pairs;
}

}  // namespace banyan
