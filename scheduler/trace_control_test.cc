#include "scheduler/trace_control.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Step = TraceOrder::Step;
using Missing = TraceEnd::Missing;

const ConnectionId kAsker(kInboundConnection.value() + 99);
constexpr TraceId kTrace(1);

class TraceControlTest : public ::testing::Test {
 protected:
  TraceControlTest() { harness_.StartJob(3); }

  void Ask(uint32_t rounds = 2, absl::Duration patience = absl::Minutes(1)) {
    harness_.Receive(kAsker, TraceRounds{rounds, patience});
  }
  void Ready(int node, uint64_t next) { harness_.Receive(node, TraceReady{kTrace, Round(next), ""}); }
  void ReadyAll() {
    for (int node = 1; node <= 3; ++node) Ready(node, 7);
  }
  void Send(int node, bool is_last, TraceId trace = kTrace) {
    TracePiece piece{trace, {"whatever", NodeId(static_cast<uint32_t>(node)), {}}, is_last};
    piece.of_node.records.moments = {{RoundRecords::Step::kCompleted, Round(8), KeyId(1), Timestamp()}};
    harness_.Receive(node, piece);
  }
  std::vector<TraceOrder> Orders(int node) { return harness_.Sent<TraceOrder>(node); }
  Step LastStep(int node) { return Orders(node).back().step; }
  std::vector<TracePiece> Pieces() { return harness_.Sent<TracePiece>(kAsker); }
  std::vector<TraceEnd> Ends() { return harness_.Sent<TraceEnd>(kAsker); }
  std::string Refusal() {
    const auto replies = harness_.Sent<OperatorReply>(kAsker);
    return replies.empty() || replies.back().accepted ? "" : replies.back().text;
  }

  SchedulerHarness harness_{MeshOverlay(3)};
};

TEST_F(TraceControlTest, RoundsAreThoseThatNobodyHadBegunAndPiecesComeOneByOne) {
  Ask();
  for (int node = 1; node <= 3; ++node) {
    EXPECT_THAT(Orders(node),
                ElementsAre(TraceOrder{Term(1), kTrace, Step::kNote, Round(0), Round(2), (1u << 18) / 4}));
  }
  Ready(1, 7);
  Ready(2, 9);
  EXPECT_EQ(LastStep(1), Step::kNote);
  Ready(3, 8);
  // One that is ahead by as many rounds as may be open has begun round 9 since.
  const TraceOrder keep{Term(1), kTrace, Step::kKeep, Round(10), Round(11), (1u << 18) / 4};
  for (int node = 1; node <= 3; ++node) EXPECT_EQ(Orders(node).back(), keep);
  Send(1, false);
  EXPECT_EQ(LastStep(1), Step::kMore);
  Send(1, true);
  Send(2, true);
  EXPECT_THAT(Ends(), IsEmpty());
  Send(3, true);
  EXPECT_EQ(LastStep(3), Step::kKeep);
  ASSERT_EQ(Pieces().size(), 4u);
  EXPECT_EQ(Pieces()[1].of_node.name, "n1");
  EXPECT_EQ(Pieces()[2].of_node.node, NodeId(2));
  EXPECT_THAT(Ends(), ElementsAre(TraceEnd{Round(10), Round(11), {}}));
}

TEST_F(TraceControlTest, OneTraceAtATimeAndOnlyOfAJobThatRuns) {
  SchedulerHarness waiting(MeshOverlay(3));
  waiting.Receive(kAsker, TraceRounds{});
  EXPECT_THAT(waiting.Sent<OperatorReply>(kAsker), ElementsAre(testing::Field(&OperatorReply::accepted, false)));
  Ask();
  EXPECT_EQ(Refusal(), "");
  Ask();
  EXPECT_THAT(Refusal(), HasSubstr("another trace is under way; it ends within 1m10s"));
  // Who does not wait any more is not worked for.
  ReadyAll();
  harness_.Step(ConnectionDown{kAsker});
  for (int node = 1; node <= 3; ++node) EXPECT_EQ(LastStep(node), Step::kStop);
  Send(1, true);
  EXPECT_THAT(Pieces(), IsEmpty());
  harness_.ForgetSent();
  Ask();
  EXPECT_EQ(Orders(1).back().trace, TraceId(2));
  // Records of the former trace are late, and no fault.
  Send(1, true);
  EXPECT_THAT(Pieces(), IsEmpty());
}

TEST_F(TraceControlTest, ATraceIsUnderWayAsLongAsItsNodesMaySend) {
  Ask(2, absl::Seconds(20));
  ReadyAll();
  harness_.Advance(absl::Seconds(21), {1, 2, 3});
  EXPECT_EQ(LastStep(1), Step::kSend);
  harness_.Advance(absl::Seconds(8), {1, 2, 3});
  // The next piece may take its ten seconds, though the notes ended nine seconds ago.
  Send(1, false);
  Ask();
  EXPECT_THAT(Refusal(), HasSubstr("another trace is under way; it ends within 10s"));
}

TEST_F(TraceControlTest, NodesThatDieOrRefuseAreNamedAndTheOthersGoOn) {
  Ask();
  harness_.Receive(2, TraceReady{kTrace, Round(3), "n2 notes rounds already"});
  Ready(1, 7);
  Ready(3, 7);
  EXPECT_EQ(LastStep(1), Step::kKeep);
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  Send(1, true);
  EXPECT_THAT(Ends(), ElementsAre(TraceEnd{
                          Round(8), Round(9), {{"n2", "n2 notes rounds already"}, {"n3", "its connection was lost"}}}));
}

TEST_F(TraceControlTest, WhoDoesNotAnswerInTimeIsNamed) {
  Ask(2, absl::Seconds(20));
  Ready(1, 7);
  Ready(3, 7);
  harness_.Advance(absl::Seconds(11), {1, 2, 3});
  EXPECT_EQ(LastStep(1), Step::kKeep);
  EXPECT_EQ(LastStep(2), Step::kStop);
  // The rounds are not closed in time: what there is is wanted.
  harness_.Advance(absl::Seconds(10), {1, 2, 3});
  EXPECT_EQ(LastStep(1), Step::kSend);
  EXPECT_EQ(LastStep(3), Step::kSend);
  Send(1, true);
  EXPECT_THAT(Ends(), IsEmpty());
  harness_.Advance(absl::Seconds(11), {1, 2, 3});
  EXPECT_THAT(
      Ends(),
      ElementsAre(TraceEnd{
          Round(8), Round(9), {{"n2", "it did not answer within 10s"}, {"n3", "it did not answer within 10s"}}}));
}

TEST_F(TraceControlTest, ANodeThatSendsOtherRecordsIsGivenUp) {
  Ask();
  ReadyAll();
  TracePiece of_other{kTrace, {"n2", NodeId(2), {}}, true};
  harness_.Receive(1, of_other);
  TracePiece long_one{kTrace, {"n2", NodeId(2), {}}, false};
  long_one.of_node.records.moments.resize(1 << 17);
  harness_.Receive(2, long_one);
  EXPECT_THAT(Pieces(), IsEmpty());
  Send(3, true);
  ASSERT_EQ(Ends().size(), 1u);
  EXPECT_EQ(Ends()[0].missing.size(), 2u);
  // Of a trace that there never was.
  Send(3, true, TraceId(5));
  EXPECT_TRUE(harness_.HasLog("a trace that no command has asked for"));
}

TEST_F(TraceControlTest, ASchedulerThatStopsSaysWhatIsMissing) {
  Ask();
  ReadyAll();
  harness_.Step(StopRequested{});
  ASSERT_EQ(Ends().size(), 1u);
  EXPECT_EQ(Ends()[0].missing.front(), (Missing{"n1", "the scheduler stops"}));
}

}  // namespace
}  // namespace banyan
