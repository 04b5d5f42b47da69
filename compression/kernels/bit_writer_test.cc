#include <vector>

#include "compression/kernels/little_endian.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(BitWriterTest, TheLowestBitComesFirst) {
  std::vector<uint8_t> bytes(4, 0xee);
  BitWriter writer(absl::MakeSpan(bytes));
  writer.Append(0b101, 3);
  writer.Append(0x1ff, 9);
  writer.Append(0, 0);
  writer.Finish();
  EXPECT_THAT(bytes, ElementsAre(0b11111101, 0b1111, 0, 0));
}

TEST(BitWriterTest, FillsExactlyWhatItWasGiven) {
  std::vector<uint8_t> bytes(2, 0xee);
  BitWriter writer(absl::MakeSpan(bytes).subspan(0, 1));
  writer.Append(0xff, 8);
  writer.Finish();
  EXPECT_THAT(bytes, ElementsAre(0xff, 0xee));
}

TEST(BitWriterTest, WritesManyZeros) {
  std::vector<uint8_t> bytes(26, 0xee);
  BitWriter writer(absl::MakeSpan(bytes));
  writer.AppendZeros(203);
  writer.Append(1, 1);
  writer.Finish();
  std::vector<uint8_t> expected(26, 0);
  expected[25] = 1 << 3;
  EXPECT_EQ(bytes, expected);
}

TEST(BitWriterTest, KeepsNumbersOfAnyWidth) {
  Random random(1);
  std::vector<bool> bits;
  std::vector<uint8_t> bytes(100000);
  BitWriter writer(absl::MakeSpan(bytes));
  for (int i = 0; i < 10000; ++i) {
    const int width = static_cast<int>(random.Below(BitWriter::kMaxBits + 1));
    const uint64_t value = random.Next() & ((uint64_t{1} << width) - 1);
    writer.Append(value, width);
    for (int bit = 0; bit < width; ++bit) bits.push_back(value >> bit & 1);
  }
  writer.Finish();
  for (size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(bytes[i / 8] >> (i % 8) & 1, bits[i]) << i;
}

}  // namespace
}  // namespace banyan
