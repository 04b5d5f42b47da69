#include "topology/fit/share_search.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

constexpr int64_t kMostPredictions = 48;
// Visits of chunks to links that may be scheduled in all: a tenth of a second or less.
constexpr double kMostSearchWork = 160'000;
// Less is rounding.
constexpr double kLeastSearchGain = 1e-4;

constexpr size_t kLastTrees = 3;
constexpr size_t kFirstTrees = 6;
constexpr int kChunksToMove[] = {1, 2, 4};

class ShareSearch {
 public:
  ShareSearch(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy, double sent_part)
      : view_(view),
        tensors_(tensors),
        sent_part_(sent_part),
        policy_(policy),
        model_chunks_(static_cast<double>(ElementsOf(tensors)) / static_cast<double>(policy.chunk_max_elements)),
        shortest_(PredictRound(policy, view, tensors, sent_part)) {
    const double visits = std::min(model_chunks_, static_cast<double>(kScheduledChunks)) * 2 *
                          static_cast<double>(view.nodes().size() - 1);
    predictions_left_ = std::min(kMostPredictions, static_cast<int64_t>(kMostSearchWork / std::max(visits, 1.0)));
  }

  // Until no move that it knows makes the round shorter.
  void Run() {
    while (MoveOnce()) {
    }
  }

 private:
  bool MoveOnce() {
    const std::vector<size_t> by_end = TreesByEnd();
    const size_t last = std::min(kLastTrees, by_end.size());
    const size_t first = std::min(kFirstTrees, by_end.size());
    for (size_t i = 0; i < last; ++i) {
      for (size_t j = 0; j < first; ++j) {
        for (const int chunks : kChunksToMove) {
          if (IsShorter(by_end[by_end.size() - 1 - i], by_end[j], chunks / model_chunks_)) return true;
        }
      }
    }
    return false;
  }

  std::vector<size_t> TreesByEnd() const {
    std::vector<size_t> trees(policy_.trees.size());
    std::iota(trees.begin(), trees.end(), size_t{0});
    std::stable_sort(trees.begin(), trees.end(),
                     [&](size_t a, size_t b) { return shortest_.tree_times[a] < shortest_.tree_times[b]; });
    return trees;
  }

  // Keeps the move when the round is shorter with it.
  bool IsShorter(size_t from, size_t to, double share) {
    const double from_share = policy_.trees[from].share;
    const double to_share = policy_.trees[to].share;
    if (from == to || from_share < 1.5 * share || predictions_left_ == 0) return false;
    --predictions_left_;
    policy_.trees[from].share -= share;
    policy_.trees[to].share += share;
    RoundPrediction moved = PredictRound(policy_, view_, tensors_, sent_part_);
    if (moved.time < (1 - kLeastSearchGain) * shortest_.time) {
      shortest_ = std::move(moved);
      return true;
    }
    policy_.trees[from].share = from_share;
    policy_.trees[to].share = to_share;
    return false;
  }

  const NetworkView& view_;
  const std::vector<PlannedTensor>& tensors_;
  const double sent_part_;
  Policy& policy_;
  const double model_chunks_;
  RoundPrediction shortest_;
  int64_t predictions_left_ = 0;
};

}  // namespace

void SearchShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                  double sent_part) {
  if (policy.trees.size() < 2) return;
  ShareSearch(view, tensors, policy, sent_part).Run();
}

}  // namespace banyan
