#include "topology/fit/share_rounding.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/check.h"
#include "topology/chunk_assignment.h"
#include "topology/evaluation/plan_rate.h"

namespace banyan {
namespace {

// Trees squared times nodes: what a step looks at, a few milliseconds.
constexpr size_t kMostWork = 10000;
// Less is rounding.
constexpr double kLeastGain = 1e-6;

std::vector<double> SharesOf(const Policy& policy) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  return shares;
}

void SetShares(const std::vector<double>& shares, Policy& policy) {
  for (size_t i = 0; i < shares.size(); ++i) policy.trees[i].share = shares[i];
}

// Moves one chunk so that the rate rises most; false when no move makes it rise.
bool MoveBestChunk(const NetworkView& view, double chunk_share, Policy& policy) {
  double best_bps = (1 + kLeastGain) * PlanRateBps(policy, view);
  std::pair<size_t, size_t> best = {0, 0};
  for (size_t from = 0; from < policy.trees.size(); ++from) {
    // A tree that got nothing would not be one.
    if (policy.trees[from].share < 1.5 * chunk_share) continue;
    for (size_t to = 0; to < policy.trees.size(); ++to) {
      if (from == to) continue;
      policy.trees[from].share -= chunk_share;
      policy.trees[to].share += chunk_share;
      const double rate_bps = PlanRateBps(policy, view);
      policy.trees[from].share += chunk_share;
      policy.trees[to].share -= chunk_share;
      if (rate_bps <= best_bps) continue;
      best_bps = rate_bps;
      best = {from, to};
    }
  }
  if (best.first == best.second) return false;
  policy.trees[best.first].share -= chunk_share;
  policy.trees[best.second].share += chunk_share;
  return true;
}

}  // namespace

std::vector<double> ChunkedShares(const Policy& policy, const std::vector<PlannedTensor>& tensors) {
  absl::StatusOr<ChunkAssignment> assignment = ChunkAssignment::Create(SharesOf(policy), policy.chunk_max_elements);
  BANYAN_CHECK(assignment.ok());
  std::vector<double> shares(policy.trees.size(), 0);
  double sum = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const KeyId key(i + 1);
    if (!assignment->AddKey(key, tensors[i].elements, tensors[i].borders).ok()) continue;
    for (uint32_t chunk = 0; chunk < assignment->ChunksOf(key); ++chunk) {
      const PlannedTensor carried(assignment->RangeOf(key, ChunkIndex(chunk)).elements, tensors[i].element_bytes);
      shares[assignment->TreeOf(key, ChunkIndex(chunk)).value()] += carried.bits();
      sum += carried.bits();
    }
  }
  for (double& share : shares) share /= sum;
  return shares;
}

double ChunkedRateBps(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors) {
  Policy chunked = policy;
  SetShares(ChunkedShares(policy, tensors), chunked);
  return PlanRateBps(chunked, view);
}

void RoundShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy) {
  const size_t trees = policy.trees.size();
  if (trees < 2 || trees * trees * policy.members.size() > kMostWork) return;
  Policy rounded = policy;
  SetShares(ChunkedShares(policy, tensors), rounded);
  const auto has_none = [](const Tree& tree) { return tree.share <= 0; };
  // Fewer chunks than trees.
  if (std::any_of(rounded.trees.begin(), rounded.trees.end(), has_none)) return;
  const double chunk_share = static_cast<double>(policy.chunk_max_elements) / static_cast<double>(ElementsOf(tensors));
  for (size_t step = 0; step < 2 * trees && MoveBestChunk(view, chunk_share, rounded); ++step) {
  }
  const double before_bps = ChunkedRateBps(policy, view, tensors);
  if (ChunkedRateBps(rounded, view, tensors) > before_bps) policy.trees = std::move(rounded.trees);
}

}  // namespace banyan
