// What the members of an all-reduce that is checked put in. Pure functions.
#ifndef BANYAN_BENCH_KNOWN_VALUES_H_
#define BANYAN_BENCH_KNOWN_VALUES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace banyan {

// Small whole numbers, whose sums are exact in any order: other ones at each place, in each round, of each member.
float OwnValue(int rank, int64_t round, int64_t index);
float SumOfValues(int world, int64_t round, int64_t index);
float LargestSum(int world);
// The mean magnitude of all members' values at `elements` places.
double MeanMagnitudeOfValues(int world, int64_t round, int64_t elements);

void FillValues(int rank, int64_t round, absl::Span<float> values);

}  // namespace banyan

#endif  // BANYAN_BENCH_KNOWN_VALUES_H_
