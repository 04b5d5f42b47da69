#include "tracing/round_recorder.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Step = RoundRecords::Step;

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

ChunkMessage Chunk(uint64_t round, bool is_result) {
  ChunkMessage chunk;
  chunk.id = {Epoch(1), Attempt(0), Round(round), KeyId(2), ChunkIndex(3), Half::kReduce};
  chunk.route = {{NodeId(4), NodeId(5), NodeId(6)}, 1};
  chunk.made_in = Epoch(is_result ? 1 : 0);
  chunk.sent_at = At(7);
  return chunk;
}

TEST(RoundRecorderTest, NotesNothingWhileNoRoundIsTraced) {
  RoundRecorder recorder;
  recorder.OnArrival(Chunk(1, false), 100, At(8));
  recorder.OnReady(Chunk(1, false), At(8));
  recorder.OnContributed(KeyId(1), Round(1), At(8));
  recorder.OnPolicy(KeyId(1), Round(1), Round(9), At(8));
  recorder.OnClock({NodeId(2), At(8), absl::Seconds(1), absl::ZeroDuration()});
  EXPECT_EQ(recorder.records(), RoundRecords());
}

TEST(RoundRecorderTest, NotesTheRoundsThatAreTracedAndNoOthers) {
  RoundRecorder recorder;
  recorder.Begin(Round(2), Round(3));
  recorder.OnCompleted(KeyId(2), Round(0), At(7));
  for (const uint64_t round : {1, 2, 4}) {
    recorder.OnArrival(Chunk(round, true), 100, At(8));
    recorder.OnReady(Chunk(round, false), At(9));
    recorder.OnCompleted(KeyId(2), Round(round), At(10));
  }
  recorder.OnPolicy(KeyId(2), Round(1), Round(9), At(1));
  const RoundRecords records = recorder.End();
  ASSERT_EQ(records.arrivals.size(), 1u);
  const ChunkJourney result{Round(2), KeyId(2), ChunkIndex(3), true, NodeId(4), NodeId(6)};
  EXPECT_EQ(records.arrivals[0], (RoundRecords::Arrival{result, NodeId(5), 100, At(7), At(8)}));
  ASSERT_EQ(records.departures.size(), 1u);
  EXPECT_FALSE(records.departures[0].journey.is_result);
  // With the end of the round before them.
  ASSERT_EQ(records.moments.size(), 4u);
  EXPECT_EQ(records.moments[0], (RoundRecords::Moment{Step::kCompleted, Round(1), KeyId(2), At(10)}));
  EXPECT_EQ(records.moments[1], (RoundRecords::Moment{Step::kCompleted, Round(2), KeyId(2), At(10)}));
  EXPECT_EQ(records.moments[2], (RoundRecords::Moment{Step::kPolicyCame, Round(2), KeyId(2), At(1)}));
  EXPECT_EQ(records.moments[3].round, Round(3));
  EXPECT_FALSE(recorder.is_on());
  EXPECT_EQ(recorder.records(), RoundRecords());
}

TEST(RoundRecorderTest, ATrainingStateIsNoPartOfARound) {
  RoundRecorder recorder;
  recorder.Begin(Round(1), Round(1));
  ChunkMessage chunk = Chunk(1, false);
  chunk.id.half = Half::kState;
  recorder.OnArrival(chunk, 100, At(8));
  recorder.OnReady(chunk, At(8));
  EXPECT_EQ(recorder.records().size(), 0u);
}

TEST(RoundRecorderTest, CountsWhatFindsNoRoom) {
  RoundRecorder recorder;
  recorder.Begin(Round(1), Round(1), 2);
  for (int i = 0; i < 5; ++i) recorder.OnReady(Chunk(1, false), At(i));
  EXPECT_EQ(recorder.records().size(), 2u);
  EXPECT_EQ(recorder.records().left_out, 3u);
}

TEST(RoundRecorderTest, KeepsClocksOfTheWholeTime) {
  RoundRecorder recorder;
  recorder.Begin(Round(1), Round(1));
  const auto samples = static_cast<int64_t>(5 * RoundRecorder::kMostClocks);
  for (int64_t i = 0; i < samples; ++i) recorder.OnClock({NodeId(2), At(i), {}, {}});
  const std::vector<RoundRecords::ClockSample>& clocks = recorder.records().clocks;
  EXPECT_LE(clocks.size(), RoundRecorder::kMostClocks);
  EXPECT_EQ(clocks.front().at, At(0));
  EXPECT_EQ(clocks.back().at, At(samples - 1));
}

TEST(RoundRecorderTest, RoundsThatAreNotWantedAfterAllAreForgotten) {
  RoundRecorder recorder;
  recorder.Begin(Round(2), Round(9));
  for (uint64_t round = 2; round <= 4; ++round) {
    recorder.OnContributed(KeyId(1), Round(round), Timestamp());
    recorder.OnCompleted(KeyId(1), Round(round), Timestamp());
  }
  recorder.Narrow(Round(4), Round(4));
  recorder.OnCompleted(KeyId(1), Round(5), Timestamp());
  const RoundRecords records = recorder.End();
  ASSERT_EQ(records.moments.size(), 3u);
  EXPECT_EQ(records.moments[0].round, Round(3));
  EXPECT_EQ(records.moments[0].step, RoundRecords::Step::kCompleted);
  EXPECT_EQ(records.moments[2].round, Round(4));
}

TEST(RecordPiecesTest, PiecesMakeUpTheWholeAndNoneIsLong) {
  RoundRecords records;
  records.left_out = 7;
  for (int64_t i = 0; i < 5; ++i) {
    const ChunkJourney journey{Round(1), KeyId(1), ChunkIndex(static_cast<uint32_t>(i)), false, NodeId(1), NodeId(2)};
    records.arrivals.push_back({journey, NodeId(1), 100, At(i), At(i + 1)});
    records.departures.push_back({journey, At(i)});
    records.moments.push_back({RoundRecords::Step::kCompleted, Round(1), KeyId(1), At(i)});
    records.clocks.push_back({NodeId(2), At(i), absl::ZeroDuration(), absl::ZeroDuration()});
  }
  RoundRecords rest = records;
  RoundRecords whole;
  int pieces = 0;
  for (; !IsEmpty(rest); ++pieces) {
    const RoundRecords piece = TakePiece(rest, 3);
    EXPECT_LE(piece.size() + piece.clocks.size(), 3u);
    AddPiece(piece, whole);
  }
  EXPECT_EQ(pieces, 7);
  EXPECT_EQ(whole.left_out, 7u);
  EXPECT_EQ(whole, records);
}

TEST(RecordPiecesTest, OfNothingThereIsOneEmptyPiece) {
  RoundRecords nothing;
  EXPECT_TRUE(IsEmpty(nothing));
  EXPECT_EQ(TakePiece(nothing, 3), RoundRecords());
}

}  // namespace
}  // namespace banyan
