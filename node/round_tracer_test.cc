#include "node/round_tracer.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/epochs_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Step = TraceOrder::Step;

constexpr TraceId kTrace(4);

class RoundTracerTest : public EpochsFixture {
 protected:
  RoundTracerTest() { Start(2); }

  void PushRound() {
    Push(1, 1);
    EXPECT_THAT(cluster_->Result(Push(2, 1)), Sum(2));
  }
  void Order(Step step, uint64_t first = 0, uint64_t last = 1, TraceId trace = kTrace) {
    cluster_->scheduler().SayToAll(
        TraceOrder{cluster_->scheduler().term, trace, step, Round(first), Round(last), 1000});
    cluster_->Run();
  }
  std::vector<TraceReady> Readies(uint32_t node) { return cluster_->scheduler().Said<TraceReady>(node); }
  std::vector<TracePiece> Pieces(uint32_t node) { return cluster_->scheduler().Said<TracePiece>(node); }
};

TEST_F(RoundTracerTest, NotesTheRoundsThatAreWantedAndSendsThemWhenTheyAreClosed) {
  PushRound();
  Order(Step::kNote);
  EXPECT_THAT(Readies(1), ElementsAre(TraceReady{kTrace, Round(2), ""}));
  PushRound();
  Order(Step::kKeep, 3, 4);
  PushRound();
  EXPECT_THAT(Pieces(1), IsEmpty());
  PushRound();
  for (const uint32_t node : {1, 2}) {
    ASSERT_THAT(Pieces(node), SizeIs(1));
    const TracePiece piece = Pieces(node)[0];
    EXPECT_EQ(piece.trace, kTrace);
    EXPECT_EQ(piece.of_node.node, NodeId(node));
    EXPECT_TRUE(piece.is_last);
    EXPECT_FALSE(piece.of_node.records.arrivals.empty());
    for (const auto& row : piece.of_node.records.arrivals) EXPECT_GE(row.journey.round, Round(3));
    for (const auto& row : piece.of_node.records.departures) EXPECT_GE(row.journey.round, Round(3));
    // The end of the round before tells since when it could begin.
    for (const auto& row : piece.of_node.records.moments) {
      EXPECT_TRUE(row.round >= Round(3) || row.step == RoundRecords::Step::kCompleted);
    }
  }
  PushRound();
  Order(Step::kMore);
  EXPECT_THAT(Pieces(1), SizeIs(1));
}

TEST_F(RoundTracerTest, SendsWhatThereIsWhenItIsAskedTo) {
  Order(Step::kNote);
  Order(Step::kKeep, 1, 5);
  PushRound();
  Order(Step::kSend);
  ASSERT_THAT(Pieces(2), SizeIs(1));
  EXPECT_GT(Pieces(2)[0].of_node.records.size(), 0u);
}

TEST_F(RoundTracerTest, ForgetsATraceThatIsStoppedOrFollowedByAnother) {
  Order(Step::kNote);
  Order(Step::kStop);
  Order(Step::kSend);
  EXPECT_THAT(Pieces(1), IsEmpty());
  Order(Step::kNote);
  Order(Step::kNote, 0, 1, TraceId(5));
  Order(Step::kSend);
  EXPECT_THAT(Pieces(1), IsEmpty());
  Order(Step::kSend, 0, 0, TraceId(5));
  EXPECT_THAT(Pieces(1), SizeIs(1));
}

}  // namespace
}  // namespace banyan
