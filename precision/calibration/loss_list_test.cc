#include <gtest/gtest.h>

#include <cmath>

#include "precision/calibration/detector_calibration.h"

namespace banyan {
namespace {

TEST(LossListTest, ReadsTheLastWordOfEachLine) {
  const absl::StatusOr<std::vector<double>> losses =
      ReadLossList("# a run\n2.5\n\nstep 2 loss 1.5\n3,0.5 # noted\nnan\n", "l.txt");
  ASSERT_TRUE(losses.ok()) << losses.status();
  ASSERT_EQ(losses->size(), 4u);
  EXPECT_EQ((*losses)[1], 1.5);
  EXPECT_EQ((*losses)[2], 0.5);
  EXPECT_TRUE(std::isnan((*losses)[3]));
}

TEST(LossListTest, RefusalsSayWhere) {
  EXPECT_EQ(ReadLossList("1\n2 steps\n", "l.txt").status().message(),
            "l.txt:2: expected a loss at the end of the line, got '2 steps'");
  EXPECT_EQ(ReadLossList(" \n", "l.txt").status().message(), "l.txt: expected a loss a line, got none");
}

}  // namespace
}  // namespace banyan
