// Samples on which tests of codecs measure errors. Pure functions: the same seed gives the same numbers on every
// machine whose library rounds logarithm and cosine alike.
#ifndef BANYAN_COMPRESSION_TESTING_TESTING_SAMPLES_H_
#define BANYAN_COMPRESSION_TESTING_TESTING_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

// Normal with mean 0 and standard deviation 1.
std::vector<float> GaussianSamples(int64_t count, uint64_t seed);

// Laplace with mean 0 and mean magnitude 1, hence with a standard deviation of sqrt(2).
std::vector<float> LaplaceSamples(int64_t count, uint64_t seed);

// ||values - decoded||^2 / ||values||^2, the normalized mean squared error. REQUIRES: equal lengths.
double NormalizedError(absl::Span<const float> values, absl::Span<const float> decoded);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TESTING_TESTING_SAMPLES_H_
