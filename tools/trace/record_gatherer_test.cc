#include "tools/trace/record_gatherer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TracePiece PieceOf(uint64_t trace, uint32_t node, size_t moments) {
  TracePiece piece{TraceId(trace), {"n" + std::to_string(node), NodeId(node), {}}, false};
  piece.of_node.records.moments.resize(moments);
  return piece;
}

TEST(RecordGathererTest, PutsPiecesTogetherAndLeavesOutNodesThatAreMissing) {
  RecordGatherer gatherer;
  gatherer.Take(PieceOf(1, 4, 7));  // of a trace that has no end
  gatherer.Take(PieceOf(2, 1, 3));
  gatherer.Take(PieceOf(2, 2, 1));
  gatherer.Take(PieceOf(2, 1, 2));
  EXPECT_FALSE(gatherer.is_over());
  gatherer.End({Round(5), Round(6), {{"n2", "gone"}, {"n3", "never there"}}});
  ASSERT_TRUE(gatherer.is_over());
  const GatheredRecords all = gatherer.TakeAll();
  EXPECT_THAT(all.names, ElementsAre(Pair(NodeId(1), "n1")));
  ASSERT_EQ(all.records.size(), 1u);
  EXPECT_EQ(all.records.at(NodeId(1)).moments.size(), 5u);
  EXPECT_EQ(all.end.last, Round(6));
  EXPECT_FALSE(gatherer.is_over());
}

TEST(RecordGathererTest, KeepsNoMoreThanANumber) {
  RecordGatherer gatherer;
  gatherer.Take(PieceOf(1, 1, RecordGatherer::kMostRecords));
  EXPECT_FALSE(gatherer.is_too_much());
  gatherer.Take(PieceOf(1, 2, 1));
  EXPECT_TRUE(gatherer.is_too_much());
}

}  // namespace
}  // namespace banyan
