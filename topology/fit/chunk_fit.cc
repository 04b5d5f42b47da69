#include "topology/fit/chunk_fit.h"

#include <algorithm>

#include "absl/time/time.h"
#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

constexpr double kEqual = 1.03;
// Where chunks have become too small, smaller ones are worse.
constexpr double kWorse = 1.05;

struct Size {
  int64_t chunk_max_elements = 0;
  absl::Duration round_time;
};

}  // namespace

absl::Duration FitChunks(const NetworkView& view, const std::vector<PlannedTensor>& tensors, int64_t least_elements,
                         Policy& policy, double sent_part) {
  const int64_t elements = ElementsOf(tensors);
  std::vector<Size> sizes = {{policy.chunk_max_elements, PredictRoundTime(policy, view, tensors, sent_part)}};
  absl::Duration shortest = sizes.front().round_time;
  const int64_t least = std::max(least_elements, kLeastFittedElements);
  for (int64_t size = policy.chunk_max_elements / 2; size >= least; size /= 2) {
    if (elements / size > kMostFittedChunks || sizes.back().round_time > kWorse * shortest) break;
    Policy smaller = policy;
    smaller.chunk_max_elements = size;
    sizes.push_back({size, PredictRoundTime(smaller, view, tensors, sent_part)});
    shortest = std::min(shortest, sizes.back().round_time);
  }
  const auto largest =
      std::find_if(sizes.begin(), sizes.end(), [&](const Size& size) { return size.round_time <= kEqual * shortest; });
  policy.chunk_max_elements = largest->chunk_max_elements;
  return largest->round_time;
}

}  // namespace banyan
