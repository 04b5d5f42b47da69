#include <bit>
#include <cmath>
#include <vector>

#include "compression/kernels/half_float.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

uint16_t WordOf(float value) {
  uint16_t word = 0;
  FloatsToBrainFloats({value}, reinterpret_cast<uint8_t*>(&word));
  return word;
}

TEST(BrainFloatTest, EveryWordComesBack) {
  std::vector<uint16_t> words(65536);
  for (int i = 0; i < 65536; ++i) words[i] = static_cast<uint16_t>(i);
  std::vector<float> values(words.size());
  BrainFloatsToFloats(reinterpret_cast<const uint8_t*>(words.data()), absl::MakeSpan(values));
  for (int i = 0; i < 65536; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), static_cast<uint32_t>(i) << 16);
    ASSERT_EQ(WordOf(values[i]), std::isnan(values[i]) ? i | 0x40 : i);
  }
}

TEST(BrainFloatTest, RoundsToNearestEven) {
  EXPECT_EQ(WordOf(std::bit_cast<float>(0x3f808000)), 0x3f80);
  EXPECT_EQ(WordOf(std::bit_cast<float>(0x3f808001)), 0x3f81);
  EXPECT_EQ(WordOf(std::bit_cast<float>(0x3f818000)), 0x3f82);
  EXPECT_EQ(WordOf(std::bit_cast<float>(0xbf817fff)), 0xbf81);
  EXPECT_EQ(WordOf(3.4e38f), 0x7f80);
  EXPECT_EQ(WordOf(std::bit_cast<float>(0x7f800001)), 0x7fc0);
  EXPECT_EQ(WordOf(-INFINITY), 0xff80);
}

TEST(BrainFloatTest, EveryPathGivesTheSameBitsAtAnyAlignment) {
  Random random(5);
  for (int length : {0, 1, 15, 33, 10'003}) {
    std::vector<float> values(length), sums(length, 0.5f);
    for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
    std::vector<uint8_t> expected(2 * length + 1);
    FloatsToBrainFloats(values, expected.data() + 1, KernelPath::kPortable);
    for (KernelPath path : KernelPaths()) {
      std::vector<uint8_t> bytes(2 * length + 1);
      FloatsToBrainFloats(values, bytes.data() + 1, path);
      EXPECT_EQ(bytes, expected);
      std::vector<float> decoded(length), added = sums;
      BrainFloatsToFloats(bytes.data() + 1, absl::MakeSpan(decoded), path);
      AddBrainFloatsInto(absl::MakeSpan(added), bytes.data() + 1, path);
      for (int i = 0; i < length; ++i) EXPECT_EQ(added[i], 0.5f + decoded[i]);
    }
  }
}

}  // namespace
}  // namespace banyan
