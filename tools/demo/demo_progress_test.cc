#include "tools/demo/demo_progress.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

RoundProgress Round(int rank, int64_t round, double loss, int64_t pushed_ms, int64_t pulled_ms) {
  return {.rank = rank,
          .round = round,
          .loss = loss,
          .pushed_at = Timestamp::FromNanoseconds(pushed_ms * 1000000),
          .pulled_at = Timestamp::FromNanoseconds(pulled_ms * 1000000)};
}

TEST(DemoProgressTest, ARoundIsFinishedWhenEveryWorkerIs) {
  DemoProgress progress(2, 2, 10);
  ASSERT_TRUE(progress.Add(Round(0, 1, 2.0, 100, 130)).ok());
  EXPECT_EQ(progress.finished_rounds(), 0);
  ASSERT_TRUE(progress.Add(Round(1, 1, 1.0, 110, 125)).ok());
  EXPECT_EQ(progress.finished_rounds(), 1);
  EXPECT_DOUBLE_EQ(progress.loss(), 1.5);
}

TEST(DemoProgressTest, SyncTimeIsFromTheLastPushToTheLastPull) {
  DemoProgress progress(2, 2, 10);
  ASSERT_TRUE(progress.Add(Round(0, 1, 0, 100, 130)).ok());
  ASSERT_TRUE(progress.Add(Round(1, 1, 0, 110, 125)).ok());
  EXPECT_EQ(progress.sync_time(), absl::Milliseconds(20));
}

TEST(DemoProgressTest, RoundsFinishInOrder) {
  DemoProgress progress(2, 2, 10);
  ASSERT_TRUE(progress.Add(Round(0, 1, 0, 100, 110)).ok());
  ASSERT_TRUE(progress.Add(Round(0, 2, 0, 200, 250)).ok());
  ASSERT_TRUE(progress.Add(Round(1, 2, 0, 200, 240)).ok());
  EXPECT_EQ(progress.finished_rounds(), 0);
  ASSERT_TRUE(progress.Add(Round(1, 1, 0, 100, 130)).ok());
  EXPECT_EQ(progress.finished_rounds(), 2);
  EXPECT_EQ(progress.sync_time(), absl::Milliseconds(50));
  EXPECT_EQ(progress.median_sync_time(), absl::Milliseconds(40));
}

TEST(DemoProgressTest, TheMedianOfAnOddNumberIsTheMiddle) {
  DemoProgress progress(1, 1, 10);
  EXPECT_EQ(progress.median_sync_time(), absl::ZeroDuration());
  for (int64_t sync : {30, 10, 20}) {
    ASSERT_TRUE(progress.Add(Round(0, progress.finished_rounds() + 1, 0, 100, 100 + sync)).ok());
  }
  EXPECT_EQ(progress.median_sync_time(), absl::Milliseconds(20));
}

TEST(DemoProgressTest, RefusesWhatCannotBe) {
  DemoProgress progress(2, 2, 10);
  EXPECT_FALSE(progress.Add(Round(2, 1, 0, 0, 0)).ok());
  EXPECT_FALSE(progress.Add(Round(-1, 1, 0, 0, 0)).ok());
  EXPECT_FALSE(progress.Add(Round(0, 11, 0, 0, 0)).ok());
  EXPECT_FALSE(progress.Add(Round(0, 0, 0, 0, 0)).ok());
  ASSERT_TRUE(progress.Add(Round(0, 1, 0, 0, 0)).ok());
  EXPECT_FALSE(progress.Add(Round(0, 1, 0, 0, 0)).ok());
  ASSERT_TRUE(progress.Add(TrainingResult{.rank = 0}).ok());
  EXPECT_FALSE(progress.Add(TrainingResult{.rank = 0}).ok());
}

TEST(DemoProgressTest, NobodyWaitsForALostWorker) {
  DemoProgress progress(2, 2, 10);
  ASSERT_TRUE(progress.Add(Round(0, 1, 2.0, 100, 130)).ok());
  progress.Lose(1);
  EXPECT_EQ(progress.finished_rounds(), 1);
  ASSERT_TRUE(progress.Add(Round(0, 2, 3.0, 200, 240)).ok());
  EXPECT_EQ(progress.finished_rounds(), 2);
  EXPECT_DOUBLE_EQ(progress.loss(), 3);
  EXPECT_EQ(progress.sync_time(), absl::Milliseconds(40));
}

TEST(DemoProgressTest, AWorkerThatIsBackCountsFromItsFirstNewRoundOn) {
  DemoProgress progress(2, 2, 10);
  progress.Lose(1);
  ASSERT_TRUE(progress.Add(Round(0, 1, 0, 100, 110)).ok());
  // What it says of rounds that are over changes nothing.
  ASSERT_TRUE(progress.Add(Round(1, 1, 0, 100, 110)).ok());
  ASSERT_TRUE(progress.Add(Round(0, 2, 0, 200, 210)).ok());
  EXPECT_EQ(progress.finished_rounds(), 2);
  ASSERT_TRUE(progress.Add(Round(1, 4, 0, 400, 410)).ok());
  ASSERT_TRUE(progress.Add(Round(0, 3, 0, 300, 310)).ok());
  EXPECT_EQ(progress.finished_rounds(), 3);
  ASSERT_TRUE(progress.Add(Round(0, 4, 0, 400, 420)).ok());
  EXPECT_EQ(progress.finished_rounds(), 4);
  ASSERT_TRUE(progress.Add(Round(0, 5, 0, 500, 510)).ok());
  EXPECT_EQ(progress.finished_rounds(), 4);
}

TEST(DemoProgressTest, RoundsThatAllHaveLostArePassedOver) {
  DemoProgress progress(2, 2, 10);
  progress.Lose(0);
  progress.Lose(1);
  ASSERT_TRUE(progress.Add(Round(1, 5, 0, 500, 510)).ok());
  EXPECT_EQ(progress.finished_rounds(), 5);
  EXPECT_FALSE(progress.all_finished());
}

TEST(DemoProgressTest, ALostWorkerMayTellItsResultAgainOrNotAtAll) {
  DemoProgress progress(2, 2, 10);
  ASSERT_TRUE(progress.Add(TrainingResult{.rank = 1, .rounds = 10, .hash = "aa"}).ok());
  progress.Lose(1);
  EXPECT_FALSE(progress.all_finished());
  ASSERT_TRUE(progress.Add(TrainingResult{.rank = 0, .rounds = 10, .hash = "ab"}).ok());
  EXPECT_TRUE(progress.all_finished());
  EXPECT_EQ(progress.finished_workers(), 1);
  EXPECT_TRUE(progress.replicas_identical());
  ASSERT_TRUE(progress.Add(TrainingResult{.rank = 1, .rounds = 10, .hash = "aa"}).ok());
  EXPECT_EQ(progress.finished_workers(), 2);
  EXPECT_FALSE(progress.replicas_identical());
}

TEST(DemoProgressTest, CountsFailures) {
  DemoProgress progress(2, 2, 10);
  EXPECT_EQ(progress.failures(), 0);
  progress.SetProcesses({{"node n1", 2, true, "signal 9 (Killed)"}, {"node n2", 1, false, "exit code 1"}});
  EXPECT_EQ(progress.failures(), 3);
}

TEST(DemoProgressTest, ComparesReplicas) {
  for (const char* hash : {"aa", "ab"}) {
    DemoProgress progress(2, 2, 10);
    ASSERT_TRUE(progress.Add(TrainingResult{.rank = 1, .rounds = 10, .hash = "aa"}).ok());
    EXPECT_FALSE(progress.all_finished());
    ASSERT_TRUE(progress.Add(TrainingResult{.rank = 0, .rounds = 10, .hash = hash, .accuracy = 0.9}).ok());
    EXPECT_TRUE(progress.all_finished());
    EXPECT_EQ(progress.replicas_identical(), std::string(hash) == "aa");
    EXPECT_EQ(progress.accuracy(), 0.9);
  }
}

}  // namespace
}  // namespace banyan
