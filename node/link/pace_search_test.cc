#include "node/link/pace_search.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// A link whose transport sends at its pace, and whose meter has a sample every 200 ms.
class PaceSearchTest : public ::testing::Test {
 protected:
  static constexpr absl::Duration kSample = absl::Milliseconds(200);

  PaceSearchTest() {
    wanted_.pace_bps = wanted_.rate_bps = 10e6;
    wanted_.ack_time = absl::Milliseconds(70);
  }

  // Runs for `samples` with a link of `link_bps` and returns the pace at the end. Headers take a part of the link.
  double Run(int samples, double link_bps, bool is_backlogged = true, double of_pace = 0.99) {
    for (int i = 0; i < samples; ++i) {
      now_ = now_ + kSample;
      PaceSearch::Shown shown;
      shown.newest_bps = std::min(of_pace * pace_bps_, kPayload * link_bps);
      shown.rate_bps = shown.newest_bps;
      shown.is_backlogged = is_backlogged;
      shown.newest_at = now_;
      pace_bps_ = search_.PaceFor(now_, wanted_, shown);
      most_bps_ = std::max(most_bps_, pace_bps_);
    }
    return pace_bps_;
  }

  static constexpr double kPayload = 0.96;
  LinkWindow wanted_;
  PaceSearch search_;
  Timestamp now_ = Timestamp() + absl::Seconds(100);
  double pace_bps_ = 10e6;
  double most_bps_ = 0;
};

TEST_F(PaceSearchTest, ALinkAsFastAsBelievedIsNotSearched) {
  Run(50, 10e6);
  EXPECT_LE(most_bps_, 1.05 * 10e6);
  EXPECT_GE(pace_bps_, 10e6);
}

TEST_F(PaceSearchTest, ALinkThatKeepsUpGetsTwiceOfItAgainAndAgain) {
  Run(10, 100e6);
  EXPECT_GE(pace_bps_, kPayload * 100e6);
  Run(50, 100e6);
  EXPECT_GE(pace_bps_, kPayload * 100e6);
  EXPECT_LE(pace_bps_, 1.3 * 100e6) << "the search is over";
  EXPECT_FALSE(search_.is_searching());
  most_bps_ = 0;
  Run(100, 100e6);
  EXPECT_LE(most_bps_, 1.3 * 100e6) << "and is not repeated";
}

TEST_F(PaceSearchTest, ALinkThatIsFoundSlowIsNotFloodedUntilThePoliciesKnow) {
  Run(20, 1e6);
  EXPECT_LE(pace_bps_, 2.1e6);
  Run(20, 10e6);
  EXPECT_GE(pace_bps_, 0.96 * 10e6) << "as soon as it is back";
}

TEST_F(PaceSearchTest, ALowerBoundSlowsNothingDown) { EXPECT_GE(Run(20, 1e6, false), 10e6); }

TEST_F(PaceSearchTest, AGuessedLinkHasNoPaceUntilItHasShownItsRate) {
  wanted_.pace_bps = kUnpaced;
  wanted_.is_guessed = true;
  pace_bps_ = kUnpaced;
  EXPECT_EQ(search_.PaceFor(now_, wanted_, {}), kUnpaced);
  EXPECT_EQ(Run(1, 50e6, false), kUnpaced);
  Run(1, 50e6);
  EXPECT_GE(pace_bps_, 50e6);
  EXPECT_LE(pace_bps_, 2 * 50e6);
  Run(20, 500e6);
  EXPECT_GE(pace_bps_, kPayload * 500e6);
}

// A link whose headers and congestion control take their part of its pace, and whose policies believe what it shows.
class PaceLoopTest : public PaceSearchTest {
 protected:
  // Runs for `seconds` and returns what the link shows in the end, as a part of what it can show.
  double Go(int seconds, double link_bps, bool is_believed = true) {
    for (int i = 0; i < seconds * 5; ++i) {
      Run(1, link_bps, true, kOfPace);
      if (is_believed && i % 15 == 0) wanted_.pace_bps = std::min(kOfPace * pace_bps_, kPayload * link_bps);
    }
    return std::min(kOfPace * pace_bps_, kPayload * link_bps) / (kPayload * link_bps);
  }
  static constexpr double kOfPace = 0.955;
};

TEST_F(PaceLoopTest, WhateverALinkHasSufferedItComesBack) {
  pace_bps_ = wanted_.pace_bps = 20e6;
  for (const int seconds : {10, 30, 120}) {
    EXPECT_GT(Go(30, 20e6), 0.97);
    Go(seconds, 2e6);
    EXPECT_LT(pace_bps_, 2 * 2e6) << seconds;
    EXPECT_GT(Go(30, 20e6), 0.97) << "after " << seconds << " s";
  }
}

TEST_F(PaceLoopTest, ALinkOfAGuessedRateComesBackToo) {
  wanted_.pace_bps = kUnpaced;
  wanted_.is_guessed = true;
  pace_bps_ = 20e6;
  EXPECT_GT(Go(30, 20e6, false), 0.97);
  Go(60, 2e6, false);
  EXPECT_LT(pace_bps_, 3e6);
  EXPECT_GT(Go(30, 20e6, false), 0.97);
}

TEST_F(PaceLoopTest, ALinkThatStaysSlowIsLiftedLessAndLess) {
  pace_bps_ = wanted_.pace_bps = 20e6;
  Go(30, 20e6);
  Go(30, 2e6);
  const auto lifted_s = [this](int seconds) {
    int lifted_s = 0;
    for (int i = 0; i < seconds; ++i) {
      Go(1, 2e6);
      if (search_.is_lifted()) ++lifted_s;
    }
    return lifted_s;
  };
  EXPECT_LT(lifted_s(600), 0.06 * 600);
  EXPECT_LT(lifted_s(600), 0.02 * 600) << "nobody remembers that it was faster";
  EXPECT_GT(lifted_s(120), 0);
}

TEST_F(PaceSearchTest, ALinkWithoutAPaceStaysSo) {
  wanted_.pace_bps = kUnpaced;
  EXPECT_EQ(Run(20, 50e6), kUnpaced);
}

TEST_F(PaceSearchTest, ASearchEndsWhereNothingIsSent) {
  Run(6, 100e6);
  ASSERT_TRUE(search_.is_searching());
  PaceSearch::Shown shown{.rate_bps = 20e6, .is_backlogged = true, .newest_bps = 20e6, .newest_at = now_};
  EXPECT_LE(search_.PaceFor(now_ + absl::Seconds(5), wanted_, shown), 1.3 * 20e6);
}

}  // namespace
}  // namespace banyan
