#include "compression/testing/testing_samples.h"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/check.h"
#include "core/random.h"

namespace banyan {
namespace {

// Uniform in (0, 1], where a logarithm exists.
double PositiveUnit(Random& random) { return 1.0 - random.Unit(); }

}  // namespace

std::vector<float> GaussianSamples(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> samples(count);
  for (float& sample : samples) {  // Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958
    const double radius = std::sqrt(-2 * std::log(PositiveUnit(random)));
    sample = static_cast<float>(radius * std::cos(2 * std::numbers::pi * random.Unit()));
  }
  return samples;
}

std::vector<float> LaplaceSamples(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> samples(count);
  for (float& sample : samples) {
    const double magnitude = -std::log(PositiveUnit(random));
    sample = static_cast<float>(random.Chance(0.5) ? magnitude : -magnitude);
  }
  return samples;
}

double NormalizedError(absl::Span<const float> values, absl::Span<const float> decoded) {
  BANYAN_CHECK(values.size() == decoded.size());
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double difference = static_cast<double>(values[i]) - decoded[i];
    error += difference * difference;
    norm += static_cast<double>(values[i]) * values[i];
  }
  return error / norm;
}

}  // namespace banyan
