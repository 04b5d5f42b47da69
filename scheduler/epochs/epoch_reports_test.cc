#include "scheduler/epochs/epoch_reports.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

const NodeId kA(1);
const NodeId kB(2);
const NodeId kFresh(3);

class EpochReportsTest : public testing::Test {
 protected:
  EpochReportsTest() { reports_.Begin(Epoch(4), {kA, kB, kFresh}, {kA, kB}, 5); }

  absl::Status Report(NodeId node, std::vector<EpochReport::Progress> progress, uint64_t epoch = 4) {
    return reports_.Accept(node, EpochReport{Epoch(epoch), std::move(progress)});
  }
  std::vector<uint64_t> Least() const {
    std::vector<uint64_t> least;
    for (uint32_t key = 1; key <= 5; ++key) least.push_back(reports_.LeastNext(KeyId(key))->value());
    return least;
  }

  EpochReports reports_;
};

TEST_F(EpochReportsTest, TakesTheLeastOfTheSurvivors) {
  EXPECT_TRUE(Report(kA, {{KeyId(1), KeyId(4), Round(7)}, {KeyId(5), KeyId(5), Round(2)}}).ok());
  EXPECT_THAT(reports_.missing(), ElementsAre(kB, kFresh));
  EXPECT_TRUE(Report(kFresh, {}).ok());
  EXPECT_TRUE(Report(kB, {{KeyId(2), KeyId(3), Round(5)}, {KeyId(5), KeyId(5), Round(9)}}).ok());
  ASSERT_TRUE(reports_.IsComplete());
  EXPECT_THAT(Least(), ElementsAre(0, 5, 5, 0, 2)) << "what is left out is not held";
}

TEST_F(EpochReportsTest, ReportsOfEarlierEpochsArePassedOver) {
  EXPECT_TRUE(Report(kA, {}, 3).ok());
  EXPECT_THAT(reports_.missing(), ElementsAre(kA, kB, kFresh));
  EXPECT_FALSE(Report(kA, {}, 5).ok());
}

TEST_F(EpochReportsTest, RefusesRunsThatOverlapOrAreOfNoKeys) {
  EXPECT_FALSE(Report(kA, {{KeyId(1), KeyId(6), Round(0)}}).ok());
  EXPECT_FALSE(Report(kA, {{KeyId(0), KeyId(1), Round(0)}}).ok());
  EXPECT_FALSE(Report(kA, {{KeyId(2), KeyId(1), Round(0)}}).ok());
  EXPECT_FALSE(Report(kA, {{KeyId(1), KeyId(2), Round(0)}, {KeyId(2), KeyId(3), Round(0)}}).ok());
  EXPECT_THAT(reports_.missing(), ElementsAre(kA, kB, kFresh));
}

TEST_F(EpochReportsTest, WithoutASurvivorNobodyHoldsAnything) {
  reports_.Begin(Epoch(5), {kFresh}, {}, 5);
  EXPECT_TRUE(Report(kFresh, {{KeyId(1), KeyId(5), Round(3)}}, 5).ok());
  EXPECT_FALSE(reports_.LeastNext(KeyId(1)).has_value());
}

}  // namespace
}  // namespace banyan
