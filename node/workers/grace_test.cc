#include "node/workers/grace.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(300);

class GraceTest : public ::testing::Test {
 protected:
  // So many rounds in which the node's last worker is so late.
  void Rounds(int count, absl::Duration late) {
    for (int i = 0; i < count; ++i) {
      grace_.OnStep(kStep);
      grace_.OnArrival(Round(++round_), absl::ZeroDuration());
      grace_.OnArrival(Round(round_), late);
    }
  }

  Grace grace_{std::nullopt};
  uint64_t round_ = 0;
};

TEST_F(GraceTest, WhatTheOverlaySaysHolds) {
  grace_ = Grace(absl::Seconds(7));
  Rounds(50, absl::Milliseconds(100));
  EXPECT_EQ(grace_.wait(), absl::Seconds(7));
}

TEST_F(GraceTest, BeforeEnoughRoundsItIsTheUsual) {
  EXPECT_EQ(grace_.wait(), Grace::kUnmeasured);
  Rounds(Grace::kLeastRounds - 1, absl::ZeroDuration());
  EXPECT_EQ(grace_.wait(), Grace::kUnmeasured);
  Rounds(1, absl::ZeroDuration());
  EXPECT_EQ(grace_.wait(), kStep / 10);
}

TEST_F(GraceTest, OneLateRoundIsEnoughToWaitForTheNext) {
  Rounds(100, absl::ZeroDuration());
  Rounds(1, absl::Milliseconds(100));
  EXPECT_GT(grace_.wait(), absl::Milliseconds(100));
  EXPECT_LT(grace_.wait(), absl::Milliseconds(150));
}

TEST_F(GraceTest, SettlesALittleAboveWhatIsUsual) {
  Rounds(100, absl::Milliseconds(100));
  EXPECT_GE(grace_.wait(), absl::Milliseconds(100));
  EXPECT_LT(grace_.wait(), absl::Milliseconds(110));
  Rounds(30, absl::ZeroDuration());
  EXPECT_LT(grace_.wait(), absl::Milliseconds(50));
}

TEST_F(GraceTest, NeverWaitsLongerThanHalfAStep) {
  Rounds(100, absl::ZeroDuration());
  Rounds(2, absl::Milliseconds(290));
  EXPECT_EQ(grace_.wait(), kStep / 2);
}

TEST_F(GraceTest, WhoComesTooLateForThatIsNotWaitedFor) {
  Rounds(100, absl::Milliseconds(400));
  EXPECT_EQ(grace_.wait(), kStep / 10);
  Rounds(1, absl::Milliseconds(200));
  EXPECT_EQ(grace_.wait(), kStep / 2) << "until it is less late once";
}

TEST_F(GraceTest, ForgetsAWorkerThatHungOnce) {
  Rounds(100, absl::ZeroDuration());
  Rounds(1, absl::Seconds(60));
  EXPECT_EQ(grace_.wait(), kStep / 2);
  Rounds(15, absl::ZeroDuration());
  EXPECT_LT(grace_.wait(), kStep / 3);
}

TEST_F(GraceTest, AQuickJobGivesTheLeast) {
  for (uint64_t round = 1; round < 20; ++round) {
    grace_.OnStep(absl::Milliseconds(1));
    grace_.OnArrival(Round(round), absl::ZeroDuration());
  }
  EXPECT_EQ(grace_.wait(), Grace::kLeast);
}

}  // namespace
}  // namespace banyan
