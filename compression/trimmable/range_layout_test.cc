#include <bit>
#include <numeric>
#include <vector>

#include "compression/trimmable/prefix_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(RangeLayoutTest, CutsIntoEqualRangesAndARest) {
  EXPECT_THAT(RangeLengths(10'000, 0, 2, RangeShape::kAnyLength), ElementsAre(4096, 4096, 1808));
  EXPECT_THAT(RangeLengths(1000, 365, 2, RangeShape::kAnyLength), ElementsAre(365, 365, 270));
  EXPECT_THAT(RangeLengths(5, 0, 2, RangeShape::kAnyLength), ElementsAre(5));
}

TEST(RangeLayoutTest, RowsArePowersOfTwoButForTheLast) {
  EXPECT_THAT(RangeLengths(4096 + 3079, 0, 2, RangeShape::kPowersOfTwo), ElementsAre(4096, 2048, 1024, 7));
  EXPECT_THAT(RangeLengths(1000, 365, 2, RangeShape::kPowersOfTwo), ElementsAre(512, 488));
}

TEST(RangeLayoutTest, NoChunkHasTooManyFrames) {
  for (const RangeShape shape : {RangeShape::kAnyLength, RangeShape::kPowersOfTwo}) {
    for (const int levels : {1, 2, 4, 6, 240}) {
      for (const int64_t elements : {1, 4097, 65536, 999'999, 1 << 24}) {
        for (const int64_t wanted : {0, 1, 365, 1 << 20}) {
          const std::vector<int64_t> lengths = RangeLengths(elements, wanted, levels, shape);
          EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), elements);
          EXPECT_LE(static_cast<int64_t>(lengths.size()) * levels, kMostLevelFrames);
          for (const int64_t length : lengths) EXPECT_GT(length, 0);
        }
      }
    }
  }
}

TEST(RangeLayoutTest, ARowHoldsItsRange) {
  EXPECT_EQ(RowOf(1), 1);
  EXPECT_EQ(RowOf(7), 8);
  EXPECT_EQ(RowOf(4096), 4096);
}

}  // namespace
}  // namespace banyan
