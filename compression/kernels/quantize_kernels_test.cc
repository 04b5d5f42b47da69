#include "compression/kernels/quantize_kernels.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kLengths[] = {1, 2, 3, 15, 16, 17, 255, 256, 257, 511, 10'001};

struct Kernels {
  void (*encode)(absl::Span<const float>, uint64_t, uint8_t*, uint8_t*, KernelPath);
  void (*decode)(QuantizedFrame, absl::Span<float>, KernelPath);
  void (*add)(QuantizedFrame, absl::Span<float>, KernelPath);
};

struct Frame {
  explicit Frame(int64_t elements) : scales(4 * QuantizeBlocks(elements) + 1), levels(elements) {}
  // At an odd address.
  uint8_t* scale_bytes() { return scales.data() + 1; }
  QuantizedFrame parts() { return {.scales = scale_bytes(), .levels = levels.data()}; }

  std::vector<uint8_t> scales, levels;
};

class QuantizeKernelsTest : public testing::TestWithParam<Kernels> {};

std::vector<float> Samples(int64_t count) {
  std::vector<float> values = GaussianSamples(count, 9);
  if (count > 1000) values[300] = std::nanf("");
  if (count > 1000) std::fill(values.begin() + 512, values.begin() + 768, 0.0f);
  return values;
}

TEST_P(QuantizeKernelsTest, EveryPathGivesTheSameBits) {
  for (int64_t length : kLengths) {
    const std::vector<float> values = Samples(length);
    Frame expected(length);
    GetParam().encode(values, 5, expected.scale_bytes(), expected.levels.data(), KernelPath::kPortable);
    std::vector<float> expected_values(length);
    GetParam().decode(expected.parts(), absl::MakeSpan(expected_values), KernelPath::kPortable);
    for (KernelPath path : KernelPaths()) {
      Frame frame(length);
      GetParam().encode(values, 5, frame.scale_bytes(), frame.levels.data(), path);
      EXPECT_EQ(frame.scales, expected.scales);
      EXPECT_EQ(frame.levels, expected.levels);
      std::vector<float> decoded(length), sums(length, 1.0f);
      GetParam().decode(frame.parts(), absl::MakeSpan(decoded), path);
      EXPECT_EQ(std::memcmp(decoded.data(), expected_values.data(), 4 * length), 0);
      GetParam().add(frame.parts(), absl::MakeSpan(sums), path);
      for (int64_t i = 0; i < length; ++i) EXPECT_TRUE(sums[i] == 1.0f + decoded[i] || std::isnan(decoded[i]));
    }
  }
}

TEST_P(QuantizeKernelsTest, ASeedDecidesTheRounding) {
  const std::vector<float> values = Samples(1000);
  Frame first(1000), second(1000);
  GetParam().encode(values, 5, first.scale_bytes(), first.levels.data(), BestKernelPath());
  GetParam().encode(values, 6, second.scale_bytes(), second.levels.data(), BestKernelPath());
  EXPECT_EQ(first.scales, second.scales);
  EXPECT_NE(first.levels, second.levels);
}

INSTANTIATE_TEST_SUITE_P(All, QuantizeKernelsTest,
                         testing::Values(Kernels{QuantizeTo8Bits, Decode8Bits, Add8Bits},
                                         Kernels{QuantizeTo4Bits, Decode4Bits, Add4Bits}));

}  // namespace
}  // namespace banyan
