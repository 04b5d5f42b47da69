#include "sim/training/contributor_fields.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/digest.h"

namespace banyan {
namespace {

constexpr int kBitsPerWorker = 2;
constexpr uint64_t kMostCounted = (1 << kBitsPerWorker) - 1;
constexpr int kLargestSpread = 512;
// A mean is rounded twice.
constexpr double kMeanTolerance = 3e-7;

}  // namespace

ContributorFields::ContributorFields(std::vector<WorkerName> workers, std::set<size_t> spread, uint64_t seed)
    : workers_(std::move(workers)), spread_(std::move(spread)), seed_(seed) {
  BANYAN_CHECK(!workers_.empty() && workers_.size() <= kMostWorkers);
}

bool ContributorFields::IsNegative(size_t tensor, Round round, size_t element) const {
  return (Digest({seed_, tensor, round.value(), element}) & 1) != 0;
}

void ContributorFields::Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) {
  if (are_ones_) return std::fill(values.begin(), values.end(), 1.0f);
  const auto place = static_cast<size_t>(std::lower_bound(workers_.begin(), workers_.end(), worker) - workers_.begin());
  if (IsSpread(tensor)) {
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t drawn = Digest({seed_, tensor, round.value(), i, 1});
      const float value = static_cast<float>(static_cast<int>(drawn % (2 * kLargestSpread)) - kLargestSpread);
      values[i] = i % workers_.size() == place ? value : 0.0f;
    }
    return;
  }
  const auto field = static_cast<float>(int64_t{1} << (kBitsPerWorker * place));
  for (size_t i = 0; i < values.size(); ++i) values[i] = IsNegative(tensor, round, i) ? -field : field;
}

void ContributorFields::FillWeights(size_t tensor, absl::Span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(Digest({seed_, tensor, i}) % 1000);
}

std::optional<ContributorFields::Counts> ContributorFields::Decode(int64_t fields) const {
  const auto bits = static_cast<int>(kBitsPerWorker * workers_.size());
  if (fields < 0 || fields >= int64_t{1} << bits) return std::nullopt;
  Counts counts;
  for (size_t place = 0; place < workers_.size(); ++place) {
    counts.push_back(static_cast<uint8_t>((static_cast<uint64_t>(fields) >> (kBitsPerWorker * place)) & kMostCounted));
  }
  return counts;
}

std::optional<ContributorFields::Counts> ContributorFields::OfSum(size_t tensor, Round round, size_t element,
                                                                  float value) const {
  const double fields = IsNegative(tensor, round, element) ? -double{value} : double{value};
  if (fields != std::floor(fields)) return std::nullopt;
  return Decode(static_cast<int64_t>(fields));
}

std::optional<ContributorFields::Counts> ContributorFields::OfMean(size_t tensor, Round round, size_t element,
                                                                   float value) const {
  const double mean = IsNegative(tensor, round, element) ? -double{value} : double{value};
  if (mean == 0) return Decode(0);
  for (size_t weight = 1; weight <= workers_.size(); ++weight) {
    const double sum = mean * static_cast<double>(weight);
    const double fields = std::round(sum);
    if (std::abs(sum - fields) > kMeanTolerance * std::abs(sum)) continue;
    std::optional<Counts> counts = Decode(static_cast<int64_t>(fields));
    if (counts.has_value() && std::accumulate(counts->begin(), counts->end(), size_t{0}) == weight) return counts;
  }
  return std::nullopt;
}

}  // namespace banyan
