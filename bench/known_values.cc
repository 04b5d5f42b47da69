#include "bench/known_values.h"

namespace banyan {
namespace {

constexpr int64_t kPeriod = 7;  // of the values' pattern

int64_t Pattern(int64_t round, int64_t index) { return (index + round) % kPeriod + 1; }

}  // namespace

float OwnValue(int rank, int64_t round, int64_t index) {
  return static_cast<float>((rank + 1) * Pattern(round, index));
}

float SumOfValues(int world, int64_t round, int64_t index) {
  return static_cast<float>(world * (world + 1) / 2 * Pattern(round, index));
}

float LargestSum(int world) { return static_cast<float>(world * (world + 1) / 2 * kPeriod); }

double MeanMagnitudeOfValues(int world, int64_t round, int64_t elements) {
  int64_t sum = 0;
  for (int64_t i = 0; i < elements; ++i) sum += Pattern(round, i);
  return (world + 1) / 2.0 * static_cast<double>(sum) / static_cast<double>(elements);
}

void FillValues(int rank, int64_t round, absl::Span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = OwnValue(rank, round, static_cast<int64_t>(i));
}

}  // namespace banyan
