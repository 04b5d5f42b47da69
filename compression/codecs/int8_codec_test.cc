#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(Int8CodecTest, TakesALevelPerElementAndAScalePerBlock) {
  EXPECT_EQ(EncodedBytes(Int8Codec(), std::vector<float>(512)), 512 + 8);
  EXPECT_EQ(EncodedBytes(Int8Codec(), std::vector<float>(513)), 513 + 12);
}

}  // namespace
}  // namespace banyan
