#include "node/rounds/committed_residual.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(CommittedResidualTest, IsZeroUntilSomethingIsCommitted) {
  CommittedResidual residual;
  EXPECT_EQ(residual.size_bytes(), 0);
  EXPECT_THAT(residual.Read({2, 3}).floats(), ElementsAre(0, 0, 0));
  EXPECT_EQ(residual.size_bytes(), 12);
}

TEST(CommittedResidualTest, GivesTheMemoryThatWasCommitted) {
  CommittedResidual residual;
  const Buffer values = Buffer::CopyOf({1, 2, 3});
  residual.Commit({4, 3}, values);
  EXPECT_EQ(residual.Read({4, 3}).data(), values.data());
  EXPECT_THAT(residual.Read({5, 1}).floats(), ElementsAre(2));
  EXPECT_EQ(residual.size_bytes(), 12);
}

TEST(CommittedResidualTest, ElementsKeepTheirsHoweverRangesAreCut) {
  CommittedResidual residual;
  residual.Commit({0, 3}, Buffer::CopyOf({1, 2, 3}));
  residual.Commit({4, 2}, Buffer::CopyOf({5, 6}));
  EXPECT_THAT(residual.Read({2, 3}).floats(), ElementsAre(3, 0, 5));
  EXPECT_THAT(residual.Read({0, 7}).floats(), ElementsAre(1, 2, 3, 0, 5, 6, 0));
  residual.Commit({1, 4}, Buffer::CopyOf({-1, -2, -3, -4}));
  EXPECT_THAT(residual.Read({0, 1}).floats(), ElementsAre(1));
  EXPECT_THAT(residual.Read({5, 2}).floats(), ElementsAre(6, 0));
  EXPECT_THAT(residual.Read({0, 7}).floats(), ElementsAre(1, -1, -2, -3, -4, 6, 0));
  EXPECT_EQ(residual.size_bytes(), 28);
}

TEST(CommittedResidualTest, WhatIsDroppedIsZero) {
  CommittedResidual residual;
  residual.Commit({0, 4}, Buffer::CopyOf({1, 2, 3, 4}));
  residual.Drop({1, 2});
  EXPECT_EQ(residual.size_bytes(), 8);
  EXPECT_THAT(residual.Read({0, 4}).floats(), ElementsAre(1, 0, 0, 4));
  residual.Drop({0, 9});
  EXPECT_EQ(residual.size_bytes(), 0);
}

// A computation of an attempt that is gone may still read it.
TEST(CommittedResidualTest, WhatIsReadDoesNotChangeWithTheNextCommit) {
  CommittedResidual residual;
  residual.Commit({0, 2}, Buffer::CopyOf({1, 2}));
  const Buffer read = residual.Read({0, 2});
  residual.Commit({0, 2}, Buffer::CopyOf({7, 8}));
  EXPECT_THAT(read.floats(), ElementsAre(1, 2));
  EXPECT_THAT(residual.Read({0, 2}).floats(), ElementsAre(7, 8));
}

}  // namespace
}  // namespace banyan
