#include "compression/codecs/top_k_selection.h"

#include <algorithm>
#include <cmath>

#include "compression/codecs/sparse_values.h"
#include "compression/codecs/stratified_choice.h"
#include "compression/kernels/magnitudes.h"
#include "core/check.h"

namespace banyan {
namespace {

// Of these a sample shall hold so many that are kept.
constexpr double kKeptInSample = 16;
constexpr int64_t kSampleAtLeast = 4096;

int64_t SampleSize(int64_t elements, double share) {
  const int64_t hundredth = std::min(elements / 100, kSampleAtLeast);
  const double wanted = std::max(static_cast<double>(hundredth), kKeptInSample / share);
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(wanted, elements / 8.0)), 1, elements);
}

// What k of the values reach, by the elements of a sample. `spare_deviations` standard deviations of their number are
// added to it before.
Magnitude SampledThreshold(absl::Span<const float> values, int64_t k, double spare_deviations, uint64_t seed) {
  const TopKSample sample = TopKSampleOf(values.size(), k, spare_deviations);
  std::vector<uint32_t> places(sample.size);
  ChooseStratified(values.size(), seed, absl::MakeSpan(places));
  return std::max(KthLargestMagnitude(ValuesAt(values, places), sample.rank, kSampledBits), kLeastKeptMagnitude);
}

// The k largest of the candidates, which rise and are not zero; all when there are fewer.
std::vector<uint32_t> LargestOf(absl::Span<const float> values, std::vector<uint32_t> candidates, int64_t k) {
  if (static_cast<int64_t>(candidates.size()) <= k) return candidates;
  const std::vector<float> found = ValuesAt(values, candidates);
  const Magnitude threshold = KthLargestMagnitude(found, k);
  int64_t equal_ones =
      k - std::count_if(found.begin(), found.end(), [&](float value) { return MagnitudeOf(value) > threshold; });
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Magnitude magnitude = MagnitudeOf(found[i]);
    // Without a branch on what cannot be guessed; equal ones are rare.
    candidates[kept] = candidates[i];
    kept += magnitude > threshold;
    kept += magnitude == threshold && equal_ones-- > 0;
  }
  candidates.resize(kept);
  return candidates;
}

}  // namespace

int64_t KeptElements(int64_t elements, double ratio) {
  BANYAN_CHECK(elements > 0);
  const double kept = std::round(ratio * elements);
  // In this order, so that no ratio, were it not a number, leaves the range.
  return kept >= elements ? elements : kept >= 1 ? static_cast<int64_t>(kept) : 1;
}

TopKSample TopKSampleOf(int64_t elements, int64_t k, double spare_deviations) {
  const double share = static_cast<double>(k) / elements;
  const int64_t size = SampleSize(elements, share);
  const double kept = share * size;
  const int64_t rank = std::llround(kept + spare_deviations * std::sqrt(kept));
  return {.size = size, .rank = std::clamp<int64_t>(rank, 1, size)};
}

bool IsSampledNumberGood(int64_t found, int64_t k) { return found <= 2 * k && 2 * found >= k; }

std::vector<uint32_t> SelectLargest(absl::Span<const float> values, int64_t k) {
  constexpr uint64_t kAnySeed = 0;
  constexpr double kSpareDeviations = 2.5;
  const int64_t limit = 4 * k + kSampleAtLeast;
  const Magnitude guess = SampledThreshold(values, k, kSpareDeviations, kAnySeed);
  std::vector<uint32_t> candidates = CollectFrom(values, guess, limit);
  const int64_t found = candidates.size();
  const bool has_all = found <= limit && (found >= k || guess == kLeastKeptMagnitude);
  if (!has_all) {
    const Magnitude threshold = std::max(KthLargestMagnitude(values, k), kLeastKeptMagnitude);
    candidates = CollectFrom(values, threshold, values.size());
  }
  return LargestOf(values, std::move(candidates), k);
}

std::vector<uint32_t> SelectLargestSampled(absl::Span<const float> values, int64_t k, uint64_t seed) {
  std::vector<uint32_t> indices = CollectFrom(values, SampledThreshold(values, k, 0, seed), 2 * k);
  if (!IsSampledNumberGood(indices.size(), k)) return SelectLargest(values, k);
  return indices;
}

}  // namespace banyan
