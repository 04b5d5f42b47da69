#include "compression/kernels/half_float.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

uint16_t HalfOf(float value, KernelPath path = BestKernelPath()) {
  // Twenty of them, so that one at least goes through a vector.
  const std::vector<float> values(20, value);
  std::vector<uint16_t> halves(20);
  FloatsToHalves(values, reinterpret_cast<uint8_t*>(halves.data()), path);
  EXPECT_EQ(halves, std::vector<uint16_t>(20, halves[0]));
  return halves[0];
}

// The value of a half by its definition; not for not-a-numbers.
double ValueOf(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::vector<uint16_t> AllHalves() {
  std::vector<uint16_t> halves(65536);
  for (int i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  return halves;
}

const uint8_t* Bytes(const std::vector<uint16_t>& halves) { return reinterpret_cast<const uint8_t*>(halves.data()); }

TEST(HalfFloatTest, EveryHalfHasItsValueAndComesBack) {
  const std::vector<uint16_t> halves = AllHalves();
  for (KernelPath path : KernelPaths()) {
    std::vector<float> values(halves.size());
    HalvesToFloats(Bytes(halves), absl::MakeSpan(values), path);
    std::vector<uint16_t> again(halves.size());
    FloatsToHalves(values, reinterpret_cast<uint8_t*>(again.data()), path);
    for (size_t i = 0; i < halves.size(); ++i) {
      if ((i & 0x7fff) > 0x7c00) {
        EXPECT_TRUE(std::isnan(values[i]));
        EXPECT_EQ(again[i], halves[i] | 0x200);
      } else {
        EXPECT_EQ(values[i], ValueOf(halves[i]));
        EXPECT_EQ(again[i], halves[i]);
      }
    }
  }
}

// Halfway between two neighbours goes to the even one, beside it to the nearer.
TEST(HalfFloatTest, RoundsToNearestEven) {
  for (KernelPath path : KernelPaths()) {
    for (int i = 0; i < 0x7bff; ++i) {
      const float halfway = static_cast<float>((ValueOf(i) + ValueOf(i + 1)) / 2);
      EXPECT_EQ(HalfOf(halfway, path), (i & 1) == 0 ? i : i + 1);
      EXPECT_EQ(HalfOf(std::nextafter(halfway, 1e9f), path), i + 1);
      EXPECT_EQ(HalfOf(-std::nextafter(halfway, 0.0f), path), i | 0x8000);
    }
  }
}

TEST(HalfFloatTest, LargeValuesBecomeInfinity) {
  EXPECT_EQ(HalfOf(65519.0f), 0x7bff);
  EXPECT_EQ(HalfOf(65520.0f), 0x7c00);
  EXPECT_EQ(HalfOf(-3e38f), 0xfc00);
  EXPECT_EQ(HalfOf(INFINITY), 0x7c00);
  EXPECT_EQ(HalfOf(std::nanf("")) & 0x7e00, 0x7e00);
}

TEST(HalfFloatTest, EveryPathGivesTheSameBits) {
  Random random(5);
  std::vector<float> values(100'003);
  for (float& value : values) value = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
  std::vector<uint16_t> expected(values.size());
  FloatsToHalves(values, reinterpret_cast<uint8_t*>(expected.data()), KernelPath::kPortable);
  for (KernelPath path : KernelPaths()) {
    std::vector<uint16_t> halves(values.size());
    FloatsToHalves(values, reinterpret_cast<uint8_t*>(halves.data()), path);
    EXPECT_EQ(halves, expected);
    std::vector<float> floats(values.size()), expected_floats(values.size());
    HalvesToFloats(Bytes(expected), absl::MakeSpan(expected_floats), KernelPath::kPortable);
    HalvesToFloats(Bytes(expected), absl::MakeSpan(floats), path);
    EXPECT_EQ(std::memcmp(floats.data(), expected_floats.data(), 4 * floats.size()), 0);
  }
}

TEST(HalfFloatTest, AddsAtEveryLengthAndAlignment) {
  Random random(6);
  for (KernelPath path : KernelPaths()) {
    for (int length : {0, 1, 7, 8, 15, 16, 17, 33, 1000}) {
      std::vector<float> values(length), sums(length), expected(length);
      for (int i = 0; i < length; ++i) {
        values[i] = static_cast<float>(random.Below(2048));
        sums[i] = static_cast<float>(random.Unit());
        expected[i] = sums[i] + values[i];
      }
      std::vector<uint8_t> bytes(2 * length + 1);
      FloatsToHalves(values, bytes.data() + 1, path);
      AddHalvesInto(absl::MakeSpan(sums), bytes.data() + 1, path);
      EXPECT_EQ(sums, expected) << length;
    }
  }
}

}  // namespace
}  // namespace banyan
