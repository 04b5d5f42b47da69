#include "compression/kernels/random_bits.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint32_t kCount = 1 << 20;

TEST(RandomBitsTest, EveryBitIsSetHalfTheTime) {
  const RandomKey key = KeyOfBlock(1, 2);
  int64_t ones[32] = {};
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t word = RandomWord(key, i);
    for (int bit = 0; bit < 32; ++bit) ones[bit] += (word >> bit) & 1;
  }
  // Five standard deviations.
  for (int64_t count : ones) EXPECT_NEAR(count, kCount / 2, 5 * std::sqrt(kCount) / 2);
}

TEST(RandomBitsTest, HighBytesAreUniform) {
  int64_t counts[256] = {};
  for (uint32_t block = 0; block < kCount / 256; ++block) {
    const RandomKey key = KeyOfBlock(7, block);
    for (uint32_t i = 0; i < 256; ++i) ++counts[RandomWord(key, i) >> 24];
  }
  double chi_square = 0;
  for (int64_t count : counts) chi_square += std::pow(count - kCount / 256.0, 2) / (kCount / 256.0);
  // Mean 255, standard deviation 22.6.
  EXPECT_GT(chi_square, 255 - 5 * 22.6);
  EXPECT_LT(chi_square, 255 + 5 * 22.6);
}

// Bits of the same element in neighbouring blocks and seeds, and of neighbouring elements, agree half the time.
TEST(RandomBitsTest, NeighboursAreIndependent) {
  int64_t of_blocks = 0, of_seeds = 0, of_elements = 0;
  for (uint32_t i = 0; i < kCount / 32; ++i) {
    const uint32_t word = RandomWord(KeyOfBlock(i / 256, 3), i % 256);
    of_blocks += std::popcount(word ^ RandomWord(KeyOfBlock(i / 256, 4), i % 256));
    of_seeds += std::popcount(word ^ RandomWord(KeyOfBlock(i / 256 + 1000, 3), i % 256));
    of_elements += std::popcount(word ^ RandomWord(KeyOfBlock(i / 256, 3), i % 256 + 1));
  }
  for (int64_t count : {of_blocks, of_seeds, of_elements}) EXPECT_NEAR(count, kCount / 2, 5 * std::sqrt(kCount) / 2);
}

TEST(RandomBitsTest, SeedsAndBlocksHaveKeysOfTheirOwn) {
  std::set<std::pair<uint32_t, uint32_t>> keys;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (uint64_t block = 0; block < 100; ++block) {
      const RandomKey key = KeyOfBlock(seed, block);
      keys.emplace(key.first, key.second);
    }
  }
  EXPECT_EQ(keys.size(), 10'000u);
}

TEST(RandomBitsTest, TheBitsAreFixed) {
  const RandomKey key = KeyOfBlock(12, 34);
  EXPECT_EQ(key.first, 3487502033u);
  EXPECT_EQ(key.second, 196557589u);
  EXPECT_EQ(RandomWord(key, 56u), 992220814u);
}

}  // namespace
}  // namespace banyan
