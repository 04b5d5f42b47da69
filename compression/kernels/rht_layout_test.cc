#include <bit>
#include <cmath>

#include "compression/kernels/sign_layout.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(RhtLayoutTest, RowsAreLongThenCutThenFilledUp) {
  EXPECT_EQ(NextRhtRowSize(100000), 32768);
  EXPECT_EQ(NextRhtRowSize(32767), 16384);
  EXPECT_EQ(NextRhtRowSize(1024), 1024);
  EXPECT_EQ(NextRhtRowSize(1023), 1024);
  EXPECT_EQ(NextRhtRowSize(513), 1024);
  EXPECT_EQ(NextRhtRowSize(3), 4);
  EXPECT_EQ(NextRhtRowSize(1), 1);
}

TEST(RhtLayoutTest, SizesArePowersOfTwo) {
  for (uint32_t left = 1; left <= 32768; ++left) {
    EXPECT_EQ(NextRhtRowSize(left), left >= 1024 ? std::bit_floor(left) : std::bit_ceil(left)) << left;
  }
}

TEST(RhtLayoutTest, CountsWhatItsRowsHave) {
  const RhtLayout layout = RhtLayoutOf(2 * 32768 + 4096 + 100);
  EXPECT_EQ(layout.rows, 4);
  EXPECT_EQ(layout.row_elements, 2 * 32768 + 4096 + 128);
  EXPECT_EQ(layout.sign_bytes, layout.row_elements / 8);
  EXPECT_EQ(layout.last_row_size, 128);
  EXPECT_EQ(RhtLayoutOf(65536).last_row_size, 32768);
  EXPECT_EQ(RhtLayoutOf(3).sign_bytes, 1);
}

TEST(RhtLayoutTest, ScalesAreFiniteOrNoNumber) {
  EXPECT_EQ(RhtScale(0, 0), 0);
  EXPECT_EQ(RhtScale(6, 3), 2);
  EXPECT_TRUE(std::isnan(RhtScale(1, INFINITY)));
  EXPECT_TRUE(std::isnan(RhtScale(NAN, NAN)));
}

}  // namespace
}  // namespace banyan
