#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/rounds/committed_residual.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VoterResidualsTest, HasNothingUntilSomethingIsCommitted) {
  VoterResiduals residuals;
  EXPECT_TRUE(residuals.empty());
  EXPECT_THAT(residuals.Read({0, 3}), IsEmpty());
}

TEST(VoterResidualsTest, EachPlaceHasItsOwn) {
  VoterResiduals residuals;
  residuals.Commit({0, 2}, {Buffer::CopyOf({1, 2}), Buffer::CopyOf({3, 4})});
  const std::vector<Buffer> read = residuals.Read({1, 2});
  ASSERT_EQ(read.size(), 2u);
  EXPECT_THAT(read[0].floats(), ElementsAre(2, 0));
  EXPECT_THAT(read[1].floats(), ElementsAre(4, 0));
}

TEST(VoterResidualsTest, PlacesThatAreTakenUpHaveNothingOfTheRange) {
  VoterResiduals residuals;
  residuals.Commit({0, 3}, {Buffer::CopyOf({1, 2, 3}), Buffer::CopyOf({4, 5, 6})});
  residuals.Commit({0, 2}, {Buffer::CopyOf({7, 8})});
  EXPECT_THAT(residuals.Read({0, 3})[0].floats(), ElementsAre(7, 8, 3));
  EXPECT_THAT(residuals.Read({0, 3})[1].floats(), ElementsAre(0, 0, 6));
  residuals.Commit({0, 3}, {});
  EXPECT_TRUE(residuals.empty());
}

}  // namespace
}  // namespace banyan
