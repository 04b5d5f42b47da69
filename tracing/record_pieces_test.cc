#include "tracing/record_pieces.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr Timestamp At(int64_t nanoseconds) { return Timestamp::FromNanoseconds(nanoseconds); }

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
