// One chunk through a codec, for tests. Pure functions.
#ifndef BANYAN_COMPRESSION_TESTING_TESTING_ROUND_TRIP_H_
#define BANYAN_COMPRESSION_TESTING_TESTING_ROUND_TRIP_H_

#include <cstdint>
#include <vector>

#include "compression/codec.h"
#include "compression/encoding.h"

namespace banyan {

// Returns what a receiver gets of `values` that `codec` encodes with `encoding`. Fails the test when the codec refuses
// its own frames.
std::vector<float> RoundTrip(const Codec& codec, const std::vector<float>& values, const Encoding& encoding);

// The same with nothing chosen but the seed.
std::vector<float> RoundTrip(const Codec& codec, const std::vector<float>& values, uint64_t seed = 0);

// The mean of RoundTrip over that many seeds: what an unbiased codec brings near `values`.
std::vector<double> MeanRoundTrip(const Codec& codec, const std::vector<float>& values, int seeds);

// The bytes that `values` become, all frames together.
int64_t EncodedBytes(const Codec& codec, const std::vector<float>& values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TESTING_TESTING_ROUND_TRIP_H_
