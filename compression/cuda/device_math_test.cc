#include "compression/cuda/device_math.h"

#include <bit>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(DeviceMathTest, SumsAreTheHosts) {
  const std::vector<float> values = {0,
                                     -0.0f,
                                     1.5f,
                                     -3e38f,
                                     3e38f,
                                     1e-45f,
                                     kInfinity,
                                     -kInfinity,
                                     FloatOfBits(0x7fc01234),
                                     FloatOfBits(0xffc00001),
                                     FloatOfBits(0x7f800001)};
  for (float a : values) {
    for (float b : values) {
      const volatile float first = a, second = b;
      const float sum = first + second;
      const float got = AddAsHost(a, b);
      if (IsNotANumber(a) && IsNotANumber(b)) {
        EXPECT_EQ(BitsOf(got), BitsOf(Quiet(b)));
      } else {
        EXPECT_EQ(BitsOf(got), BitsOf(sum)) << a << " + " << b;
      }
    }
  }
}

TEST(DeviceMathTest, ScalingPassesNotANumbersOn) {
  EXPECT_EQ(ScaleAsHost(3, 0.5f), 1.5f);
  EXPECT_EQ(BitsOf(ScaleAsHost(3, FloatOfBits(0xff800007))), 0xffc00007);
}

TEST(DeviceMathTest, CountsBits) {
  EXPECT_EQ(CountOnes(0), 0);
  EXPECT_EQ(CountOnes(0xffffffff), 32);
  for (uint32_t word = 1; word != 0; word *= 2) {
    EXPECT_EQ(CountOnes(word | 0x00010010), std::popcount(word | 0x00010010));
    EXPECT_EQ(LowestOne(word | 0x80000000), std::countr_zero(word));
  }
}

TEST(DeviceMathTest, NumbersLieAtAnyAddress) {
  alignas(8) uint8_t bytes[16] = {};
  for (int at = 0; at < 8; ++at) {
    StoreNumber(uint32_t{0x04030201}, bytes + at);
    EXPECT_EQ(bytes[at], 1);
    EXPECT_EQ(bytes[at + 3], 4);
    EXPECT_EQ(LoadNumber<uint32_t>(bytes + at), 0x04030201u);
    EXPECT_EQ(LoadNumber<uint16_t>(bytes + at + 1), 0x0302u);
  }
}

}  // namespace
}  // namespace banyan
