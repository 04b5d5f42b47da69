#include <cmath>
#include <vector>

#include "compression/kernels/little_endian.h"
#include "compression/trimmable/prefix_codec.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(SideInformationTest, RootMeanSquareSeesWhatIsNotFinite) {
  EXPECT_EQ(RootMeanSquare({3.0f, -4.0f, 0.0f, 0.0f}), 2.5f);
  EXPECT_EQ(RootMeanSquare({0.0f}), 0.0f);
  EXPECT_EQ(RootMeanSquare({1e-30f, 1e-30f}), 1e-30f);
  for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) EXPECT_TRUE(std::isnan(RootMeanSquare({1.0f, bad})));
}

TEST(SideInformationTest, HeadsNeedAScaleAndZeroBitsBehind) {
  std::vector<uint8_t> head(kScaleBytes + 1);
  StoreLittleEndian(1.5f, head.data());
  head[kScaleBytes] = 0x07;
  const auto check = [&](int64_t elements) {
    return CheckHead("trim_x", head.data(), head.data() + kScaleBytes, elements);
  };
  EXPECT_TRUE(check(3).ok());
  EXPECT_EQ(check(2).message(), "expected zero bits after the signs of 2 elements in trim_x, got others");
  for (const float bad : {-1.0f, INFINITY}) {
    StoreLittleEndian(bad, head.data());
    EXPECT_FALSE(check(3).ok()) << bad;
  }
  StoreLittleEndian(std::nanf(""), head.data());
  EXPECT_TRUE(check(3).ok()) << "of a range that is not finite";
}

TEST(SideInformationTest, TailsHaveNoSigns) {
  std::vector<uint8_t> tails(4);
  EXPECT_TRUE(CheckTails("trim_x", tails.data(), 1).ok());
  tails[3] = 0x80;
  EXPECT_EQ(CheckTails("trim_x", tails.data(), 1).message(),
            "expected zero bits beside the tails of 1 elements in trim_x, got others");
}

}  // namespace
}  // namespace banyan
