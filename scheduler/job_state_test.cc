#include "scheduler/job_state.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(JobStateTest, EveryPlanningHasAnEpochOfItsOwn) {
  JobState job("j");
  job.Restore(Term(3), Epoch(4));
  EXPECT_EQ(job.term(), Term(3));
  EXPECT_TRUE(job.IsStarting());
  job.BeginPlanning();
  EXPECT_EQ(job.epoch(), Epoch(5));
  job.ReturnToJoining();
  EXPECT_EQ(job.phase(), JobPhase::kJoining);
  job.BeginPlanning();
  EXPECT_EQ(job.epoch(), Epoch(6));
  EXPECT_STREQ(job.PhaseName(), "planning");
  job.Run();
  EXPECT_TRUE(job.IsRunning());
  EXPECT_FALSE(job.IsStarting());
  EXPECT_FALSE(job.IsOver());
}

TEST(JobStateTest, TellsWhyItFailed) {
  JobState job("j");
  job.Restore(Term(3), Epoch(0));
  EXPECT_TRUE(job.failure().ok());
  job.Fail(absl::DataLossError("no"), true);
  EXPECT_TRUE(job.IsOver());
  EXPECT_STREQ(job.PhaseName(), "stopped") << "somebody asked for it";
  EXPECT_EQ(job.MakeJobFailed(), (JobFailed{Term(3), absl::StatusCode::kDataLoss, "no", true}));
  job.Stop();
  EXPECT_EQ(job.failure(), absl::DataLossError("no"));
}

TEST(JobStateTest, EndsWithoutAFailure) {
  JobState job("j");
  job.Run();
  job.End();
  EXPECT_TRUE(job.IsOver());
  EXPECT_TRUE(job.failure().ok());
  EXPECT_STREQ(job.PhaseName(), "ended");
}

TEST(JobStateDeathTest, WhatIsOverStaysOver) {
  JobState job("j");
  job.Fail(absl::UnavailableError("no"), false);
  EXPECT_STREQ(job.PhaseName(), "failed");
  EXPECT_DEATH(job.Run(), "");
  EXPECT_DEATH(job.Fail(absl::UnavailableError("again"), false), "");
}

}  // namespace
}  // namespace banyan
