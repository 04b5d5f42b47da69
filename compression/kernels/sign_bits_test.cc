#include "compression/kernels/sign_bits.h"

#include <cmath>
#include <vector>

#include "compression/kernels/vector_math.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

bool BitOf(const std::vector<uint8_t>& bytes, int64_t first_byte, int64_t bit) {
  return (bytes[first_byte + bit / 8] >> (bit % 8) & 1) != 0;
}

// Where the header says that the sign of element `i` of `count` lies.
int64_t PositionOf(int64_t i, int64_t count) {
  const int64_t group = i / 512;
  if (group >= count / 512) return i;
  return group * 512 + (i % 16) * 32 + (i % 512) / 16;
}

TEST(SignBitsTest, BitsLieWhereTheHeaderSays) {
  for (int64_t length : {1, 7, 8, 9, 511, 512, 513, 1100, 4096}) {
    const std::vector<float> values = GaussianSamples(length, 1);
    for (KernelPath path : KernelPaths()) {
      std::vector<uint8_t> bytes(SignBytes(length) + 1, 0xee);
      const double sum = PackSigns(values, bytes.data() + 1, path);
      EXPECT_EQ(sum, SumOfMagnitudes(values, path));
      for (int64_t i = 0; i < length; ++i) ASSERT_EQ(BitOf(bytes, 1, PositionOf(i, length)), values[i] < 0);
      EXPECT_TRUE(IsPaddingZero(bytes.data() + 1, length));
    }
  }
}

TEST(SignBitsTest, EveryPathUnpacksAndAdds) {
  for (int64_t length : {1, 9, 511, 512, 513, 1100}) {
    const std::vector<float> values = GaussianSamples(length, 2);
    std::vector<uint8_t> bytes(SignBytes(length) + 1);
    PackSigns(values, bytes.data() + 1);
    for (KernelPath path : KernelPaths()) {
      std::vector<float> unpacked(length), sums = values;
      UnpackSigns(bytes.data() + 1, 0.3f, absl::MakeSpan(unpacked), path);
      AddSigns(bytes.data() + 1, 0.3f, absl::MakeSpan(sums), path);
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(unpacked[i], values[i] < 0 ? -0.3f : 0.3f);
        ASSERT_EQ(sums[i], values[i] + unpacked[i]);
      }
    }
  }
}

TEST(SignBitsTest, AnyMagnitudePasses) {
  const uint8_t bits[] = {1};
  std::vector<float> values(2);
  UnpackSigns(bits, std::nanf(""), absl::MakeSpan(values));
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  UnpackSigns(bits, 0.0f, absl::MakeSpan(values));
  EXPECT_EQ(values, std::vector<float>(2, 0.0f));
}

TEST(SignBitsTest, SeesBitsAfterTheLastElement) {
  const uint8_t bits[] = {0xff, 0x08};
  EXPECT_TRUE(IsPaddingZero(bits, 8));
  EXPECT_TRUE(IsPaddingZero(bits, 12));
  EXPECT_FALSE(IsPaddingZero(bits, 11));
}

}  // namespace
}  // namespace banyan
