#include "compression/kernels/vector_math.h"

#include <cstring>
#include <limits>
#include <vector>

#include "core/buffer.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Lengths around every vector width, with tails of all kinds.
constexpr int kLengths[] = {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1000, 65536, 65537};

std::vector<float> RandomFloats(size_t count, Random* random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>((random->Unit() - 0.5) * (1 << random->Below(20)));
  return values;
}

// Sums one at a time through a volatile, which no vector path can touch.
std::vector<float> OneByOne(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> sums(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    volatile float sum = a[i];
    sum = sum + b[i];
    sums[i] = sum;
  }
  return sums;
}

TEST(VectorMathTest, AddsAtEveryLengthAndAlignment) {
  Random random(2);
  for (int length : kLengths) {
    for (int offset : {0, 1, 2, 3, 4, 13}) {
      std::vector<float> sums = RandomFloats(length, &random);
      const std::vector<float> values = RandomFloats(length, &random);
      std::vector<uint8_t> bytes(offset + length * sizeof(float) + 1);
      if (length > 0) std::memcpy(bytes.data() + offset, values.data(), length * sizeof(float));
      const std::vector<float> expected = OneByOne(sums, values);
      AddBytesInto(absl::MakeSpan(sums), absl::MakeConstSpan(bytes).subspan(offset, length * sizeof(float)));
      EXPECT_EQ(sums, expected) << length << " at " << offset;
    }
  }
}

TEST(VectorMathTest, AddsTwoAtEveryLengthAndAlignment) {
  Random random(4);
  for (int length : kLengths) {
    for (int offset : {0, 1, 4, 13}) {
      const std::vector<float> one = RandomFloats(length, &random);
      const std::vector<float> other = RandomFloats(length, &random);
      const size_t size_bytes = length * sizeof(float);
      std::vector<uint8_t> bytes(offset + size_bytes + 1);
      if (length > 0) std::memcpy(bytes.data() + offset, one.data(), size_bytes);
      const Buffer aligned = Buffer::CopyOf(other);
      std::vector<float> sums(length);
      AddBytes(absl::MakeSpan(sums), absl::MakeConstSpan(bytes).subspan(offset, size_bytes), aligned.AsBytes().bytes());
      EXPECT_EQ(sums, OneByOne(one, other)) << length << " at " << offset;
    }
  }
}

TEST(VectorMathTest, Scales) {
  Random random(3);
  for (int length : kLengths) {
    std::vector<float> values = RandomFloats(length, &random);
    std::vector<float> expected = values;
    for (float& value : expected) value = value * 0.1f;
    Scale(absl::MakeSpan(values), 0.1f);
    EXPECT_EQ(values, expected) << length;
  }
}

TEST(VectorMathTest, TreatsInfinitiesAndSubnormalsAsIeee) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> sums(40, infinity);
  sums[1] = tiny;
  std::vector<float> values(40, -infinity);
  values[1] = tiny;
  values[2] = 1;
  AddBytesInto(absl::MakeSpan(sums), Buffer::CopyOf(values).bytes());
  EXPECT_NE(sums[0], sums[0]);
  EXPECT_EQ(sums[1], 2 * tiny);
  EXPECT_EQ(sums[2], infinity);
}

}  // namespace
}  // namespace banyan
