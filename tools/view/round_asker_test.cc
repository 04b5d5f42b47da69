#include "tools/view/round_asker.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

JobStatus StatusOf(uint64_t round, const std::string& state = "running") {
  JobStatus status;
  status.state = state;
  status.nodes.resize(2);
  status.nodes[0].report.emplace().round = round - 1;
  status.nodes[1].report.emplace().round = round;
  return status;
}

class RoundAskerTest : public ::testing::Test {
 protected:
  // The trace of a round that begins and ends at one node.
  void Answer(double at_s, bool is_complete = true) {
    TracePiece piece{TraceId(1), {"n1", NodeId(1), {}}, true};
    piece.of_node.records.moments = {{RoundRecords::Step::kContributed, Round(9), KeyId(1), Timestamp()}};
    if (is_complete) {
      piece.of_node.records.moments.push_back(
          {RoundRecords::Step::kCompleted, Round(9), KeyId(1), Timestamp() + absl::Seconds(1)});
    }
    EXPECT_TRUE(asker_.Take(piece, At(at_s)));
    EXPECT_TRUE(asker_.Take(TraceEnd{Round(9), Round(9), {{"n2", "it is gone"}}}, At(at_s)));
  }

  std::vector<RoundChart> charts_;
  std::vector<std::string> reasons_;
  RoundAsker asker_{{[this](const RoundChart& chart) { charts_.push_back(chart); },
                     [this](const std::string& why) { reasons_.push_back(why); }}};
};

TEST_F(RoundAskerTest, AsksWhenRoundsGoOnAndHandsOutWhatComes) {
  EXPECT_EQ(asker_.Next(StatusOf(3), At(0)), std::nullopt);
  EXPECT_EQ(asker_.Next(StatusOf(3), At(1)), std::nullopt);
  EXPECT_EQ(asker_.Next(StatusOf(4, "stopped"), At(2)), std::nullopt);
  EXPECT_EQ(asker_.Next(StatusOf(5), At(3)), (TraceRounds{1, RoundAsker::kLeastPatience}));
  // One at a time.
  EXPECT_EQ(asker_.Next(StatusOf(6), At(4)), std::nullopt);
  Answer(5);
  ASSERT_EQ(charts_.size(), 1u);
  EXPECT_EQ(charts_[0].round, Round(9));
  EXPECT_EQ(charts_[0].missing.at(0).node, "n2");
  EXPECT_EQ(asker_.Next(StatusOf(7), At(6)), std::nullopt);
  EXPECT_EQ(asker_.Next(StatusOf(7), At(20)), std::nullopt);
  EXPECT_NE(asker_.Next(StatusOf(8), At(21)), std::nullopt);
  EXPECT_THAT(reasons_, IsEmpty());
}

TEST_F(RoundAskerTest, WaitsLongerForLongRounds) {
  asker_.Next(StatusOf(3), At(0));
  EXPECT_EQ(asker_.Next(StatusOf(5), At(100)), (TraceRounds{1, absl::Seconds(1200)}));
  // Of another job, which starts anew.
  EXPECT_EQ(asker_.Next(StatusOf(1), At(9000)), std::nullopt);
  EXPECT_EQ(asker_.Next(StatusOf(2), At(20000)), (TraceRounds{1, RoundAsker::kMostPatience}));
}

TEST_F(RoundAskerTest, SaysWhyThereIsNone) {
  EXPECT_FALSE(asker_.Take(OperatorReply{false, "of nobody"}, At(0)));
  asker_.Next(StatusOf(1), At(0));
  ASSERT_NE(asker_.Next(StatusOf(2), At(1)), std::nullopt);
  EXPECT_FALSE(asker_.Take(StatusReply{}, At(1)));
  EXPECT_FALSE(asker_.Take(OperatorReply{true, "of another"}, At(1)));
  EXPECT_TRUE(asker_.Take(OperatorReply{false, "another trace is under way"}, At(1)));
  ASSERT_NE(asker_.Next(StatusOf(3), At(10)), std::nullopt);
  Answer(11, false);
  ASSERT_NE(asker_.Next(StatusOf(4), At(20)), std::nullopt);
  // A job that stands still is asked for nothing, but what was asked has its time.
  EXPECT_EQ(asker_.Next(StatusOf(4), At(1000)), std::nullopt);
  EXPECT_THAT(reasons_, ElementsAre("another trace is under way",
                                    "the round that was to be traced was not complete at all nodes in time",
                                    "no answer came in time"));
  // It comes after all, and is not waited for any more.
  Answer(1001);
  EXPECT_THAT(charts_, IsEmpty());
}

TEST_F(RoundAskerTest, AsksLessAndLessOften) {
  std::vector<double> asked_at_s;
  for (int second = 0; second < 40000; ++second) {
    if (!asker_.Next(StatusOf(second + 1), At(second)).has_value()) continue;
    asked_at_s.push_back(second);
    Answer(second);
  }
  EXPECT_EQ(charts_.size(), asked_at_s.size());
  const auto pause = [&](size_t i) { return asked_at_s[i + 1] - asked_at_s[i]; };
  constexpr size_t kPace = RoundAsker::kTracesOfPace;
  EXPECT_EQ(pause(0), absl::ToDoubleSeconds(RoundAsker::kFirstPause));
  EXPECT_EQ(pause(kPace), 2 * pause(0));
  EXPECT_EQ(pause(asked_at_s.size() - 2), absl::ToDoubleSeconds(RoundAsker::kLongestPause));
  EXPECT_LT(asked_at_s.size(), 8 * kPace + 40000 / 600);
}

}  // namespace
}  // namespace banyan
