#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "compression/kernels/sign_bits.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/level_bits.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TailBitsTest, TakesThirtyOneBitsOfEachElementInWholeGroups) {
  EXPECT_EQ(TailBytes(1), 4);
  EXPECT_EQ(TailBytes(511), 511 * 4);
  EXPECT_EQ(TailBytes(4096), 4096 * 31 / 8);
  EXPECT_EQ(TailBytes(513), 512 * 31 / 8 + 4);
}

TEST(TailBitsTest, SignsAndTailsMakeTheSameBitsAgainOnEveryPath) {
  for (const KernelPath path : KernelPaths()) {
    for (int64_t length : {1, 7, 511, 512, 513, 1100, 4096}) {
      std::vector<float> values = GaussianSamples(length, 1);
      values[0] = -std::nanf("7");
      values[length / 2] = -INFINITY;
      std::vector<uint8_t> signs(SignBytes(length) + 1), tails(TailBytes(length) + 1), portable(TailBytes(length));
      PackSigns(values, signs.data() + 1);
      PackTails(values, tails.data() + 1, path);
      PackTails(values, portable.data(), KernelPath::kPortable);
      EXPECT_TRUE(std::equal(portable.begin(), portable.end(), tails.begin() + 1));
      EXPECT_TRUE(IsTailPaddingZero(tails.data() + 1, length));
      std::vector<float> joined(length);
      UnpackTails(signs.data() + 1, tails.data() + 1, absl::MakeSpan(joined), path);
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(joined[i]), std::bit_cast<uint32_t>(values[i])) << i << " of " << length;
      }
    }
  }
}

// Where the header says that they lie.
TEST(TailBitsTest, TheLastVectorLiesInTheTopBits) {
  std::vector<float> values(512);
  values[31 * 16 + 5] = std::bit_cast<float>(uint32_t{1} << 9);
  std::vector<uint8_t> tails(TailBytes(512));
  PackTails(values, tails.data());
  for (int64_t byte = 0; byte < TailBytes(512); ++byte) {
    EXPECT_EQ(tails[byte], byte == (9 * 16 + 5) * 4 + 3 ? 0x80 : 0) << byte;
  }
}

TEST(TailBitsTest, SeesTopBitsThatHaveNoUse) {
  std::vector<uint8_t> tails(TailBytes(514));
  EXPECT_TRUE(IsTailPaddingZero(tails.data(), 514));
  tails[3] = 0x80;
  EXPECT_TRUE(IsTailPaddingZero(tails.data(), 514)) << "it belongs to another element";
  tails[512 * 31 / 8 + 7] = 0x80;
  EXPECT_FALSE(IsTailPaddingZero(tails.data(), 514));
}

}  // namespace
}  // namespace banyan
