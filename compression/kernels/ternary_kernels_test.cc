#include "compression/kernels/ternary_kernels.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kLengths[] = {1, 2, 4, 5, 6, 63, 319, 320, 321, 640, 10'001};

struct Frame {
  explicit Frame(int64_t elements) : scales(4 * TernaryBlocks(elements) + 1), trits(TritBytes(elements)) {}
  // At an odd address.
  uint8_t* scale_bytes() { return scales.data() + 1; }

  std::vector<uint8_t> scales, trits;
};

std::vector<float> Samples(int64_t count) {
  std::vector<float> values = GaussianSamples(count, 9);
  if (count > 1000) values[400] = INFINITY;
  if (count > 1000) std::fill(values.begin() + 640, values.begin() + 960, 0.0f);
  return values;
}

TEST(TernaryKernelsTest, EveryPathGivesTheSameBits) {
  for (int64_t length : kLengths) {
    const std::vector<float> values = Samples(length);
    Frame expected(length);
    EncodeTernary(values, 5, expected.scale_bytes(), expected.trits.data(), KernelPath::kPortable);
    std::vector<float> expected_values(length);
    DecodeTernary(expected.scale_bytes(), expected.trits.data(), absl::MakeSpan(expected_values),
                  KernelPath::kPortable);
    for (KernelPath path : KernelPaths()) {
      Frame frame(length);
      EncodeTernary(values, 5, frame.scale_bytes(), frame.trits.data(), path);
      EXPECT_EQ(frame.scales, expected.scales);
      EXPECT_EQ(frame.trits, expected.trits);
      EXPECT_TRUE(AreTrits(frame.trits.data(), length));
      std::vector<float> decoded(length), sums(length, 1.0f);
      DecodeTernary(frame.scale_bytes(), frame.trits.data(), absl::MakeSpan(decoded), path);
      EXPECT_EQ(std::memcmp(decoded.data(), expected_values.data(), 4 * length), 0);
      AddTernary(frame.scale_bytes(), frame.trits.data(), absl::MakeSpan(sums), path);
      for (int64_t i = 0; i < length; ++i) EXPECT_TRUE(sums[i] == 1.0f + decoded[i] || std::isnan(decoded[i]));
    }
  }
}

// Byte i of b holds the elements i, i + b, i + 2b and so on, the first in the lowest digit.
TEST(TernaryKernelsTest, TritsLieWhereTheHeaderSays) {
  Frame frame(7);
  EncodeTernary({2, -2, 2, 0, -2, 2, 0}, 1, frame.scale_bytes(), frame.trits.data());
  EXPECT_EQ(frame.trits[0], 2 + 3 * 2 + 9 * 0 + 27 * 1 + 81 * 1);
  EXPECT_EQ(frame.trits[1], 0 + 3 * 1 + 9 * 2 + 27 * 1 + 81 * 1);
}

TEST(TernaryKernelsTest, SeesWhatIsNoTrit) {
  std::vector<uint8_t> whole(64, 242);
  EXPECT_TRUE(AreTrits(whole.data(), 320));
  EXPECT_FALSE(AreTrits(whole.data(), 319));
  whole[63] = 242 - 81;
  EXPECT_TRUE(AreTrits(whole.data(), 319));
  whole[10] = 243;
  EXPECT_FALSE(AreTrits(whole.data(), 320));
}

}  // namespace
}  // namespace banyan
