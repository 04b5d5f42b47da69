#include "compression/prune.h"

#include <cmath>
#include <vector>

#include "compression/codecs/sparse_values.h"
#include "compression/codecs/stratified_choice.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/magnitudes.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr int64_t kSample = 4096;

// Only branches of numbers, which the compiler turns into masks.
BANYAN_VECTOR_CLONES int64_t ZeroWhereBelow(const float* weights, Magnitude threshold, float* gradients,
                                            int64_t count) {
  int32_t zeroed = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_kept = MagnitudeOf(weights[i]) >= threshold;
    gradients[i] = is_kept ? gradients[i] : 0.0f;
    zeroed += !is_kept;
  }
  return zeroed;
}

// What all weights but the smallest `share` of them reach.
Magnitude LeastKept(absl::Span<const float> weights, double share) {
  const int64_t count = weights.size();
  return KthLargestMagnitude(weights, count - static_cast<int64_t>(std::floor(share * count)));
}

std::vector<float> Sample(absl::Span<const float> weights, uint64_t seed) {
  std::vector<uint32_t> places(kSample);
  ChooseStratified(weights.size(), seed, absl::MakeSpan(places));
  return ValuesAt(weights, places);
}

}  // namespace

double PruningShare(double factor, double ratio) {
  BANYAN_CHECK(ratio >= 0 && ratio <= 1 && factor >= 0 && factor <= 0.5);
  return factor * (1 - ratio);
}

int64_t PruneSmallestWeights(absl::Span<const float> weights, double share, TopKSelection selection, uint64_t seed,
                             absl::Span<float> gradients) {
  BANYAN_CHECK(weights.size() == gradients.size() && weights.size() <= INT32_MAX && share >= 0 && share <= 0.5);
  const int64_t count = weights.size();
  if (std::floor(share * count) < 1) return 0;
  const bool is_sampled = selection == TopKSelection::kSampled && count >= 8 * kSample;
  const Magnitude threshold = is_sampled ? LeastKept(Sample(weights, seed), share) : LeastKept(weights, share);
  return ZeroWhereBelow(weights.data(), threshold, gradients.data(), count);
}

}  // namespace banyan
