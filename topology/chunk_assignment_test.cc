#include "topology/chunk_assignment.h"

#include <gtest/gtest.h>

#include <limits>

namespace banyan {
namespace {

ChunkAssignment Made(const std::vector<double>& shares, int64_t chunk_max_elements) {
  absl::StatusOr<ChunkAssignment> assignment = ChunkAssignment::Create(shares, chunk_max_elements);
  EXPECT_TRUE(assignment.ok()) << assignment.status();
  return *std::move(assignment);
}

std::vector<int64_t> ElementsPerTree(const ChunkAssignment& assignment, uint32_t keys, size_t trees) {
  std::vector<int64_t> elements(trees, 0);
  for (uint32_t key = 1; key <= keys; ++key) {
    for (uint32_t chunk = 0; chunk < assignment.ChunksOf(KeyId(key)); ++chunk) {
      elements[assignment.TreeOf(KeyId(key), ChunkIndex(chunk)).value()] +=
          assignment.RangeOf(KeyId(key), ChunkIndex(chunk)).elements;
    }
  }
  return elements;
}

TEST(ChunkAssignmentTest, SmallTensorsStayWhole) {
  ChunkAssignment assignment = Made({1.0}, 100);
  ASSERT_TRUE(assignment.AddKey(KeyId(1), 100).ok());
  EXPECT_EQ(assignment.ChunksOf(KeyId(1)), 1u);
  EXPECT_EQ(assignment.RangeOf(KeyId(1), ChunkIndex(0)), (ElementRange{0, 100}));
}

TEST(ChunkAssignmentTest, LargeTensorsAreSplitEvenly) {
  ChunkAssignment assignment = Made({1.0}, 100);
  ASSERT_TRUE(assignment.AddKey(KeyId(1), 203).ok());
  ASSERT_EQ(assignment.ChunksOf(KeyId(1)), 3u);
  EXPECT_EQ(assignment.RangeOf(KeyId(1), ChunkIndex(0)), (ElementRange{0, 68}));
  EXPECT_EQ(assignment.RangeOf(KeyId(1), ChunkIndex(1)), (ElementRange{68, 68}));
  EXPECT_EQ(assignment.RangeOf(KeyId(1), ChunkIndex(2)), (ElementRange{136, 67}));
}

TEST(ChunkAssignmentTest, TensorsOfMoreElementsThan32BitsHoldAreCutToo) {
  const int64_t elements = (int64_t{3} << 31) + 1;
  ChunkAssignment assignment = Made({1.0}, 65536);
  ASSERT_TRUE(assignment.AddKey(KeyId(1), elements).ok());
  const uint32_t chunks = assignment.ChunksOf(KeyId(1));
  EXPECT_EQ(chunks, elements / 65536 + 1);
  const ElementRange last = assignment.RangeOf(KeyId(1), ChunkIndex(chunks - 1));
  EXPECT_EQ(last.first_element + last.elements, elements);
  EXPECT_GT(last.first_element, int64_t{1} << 32);
}

TEST(ChunkAssignmentTest, NoChunkCrossesTheBorderOfASlice) {
  ChunkAssignment assignment = Made({1.0}, 100);
  ASSERT_TRUE(assignment.AddKey(KeyId(1), 400, {30, 281}).ok());
  ASSERT_EQ(assignment.ChunksOf(KeyId(1)), 1u + 3u + 2u);
  const auto range = [&](uint32_t chunk) { return assignment.RangeOf(KeyId(1), ChunkIndex(chunk)); };
  EXPECT_EQ(range(0), (ElementRange{0, 30}));
  EXPECT_EQ(range(1), (ElementRange{30, 84}));
  EXPECT_EQ(range(3), (ElementRange{198, 83}));
  EXPECT_EQ(range(4), (ElementRange{281, 60}));
  EXPECT_EQ(range(5), (ElementRange{341, 59}));
  EXPECT_EQ(assignment.SliceOf(KeyId(1), ChunkIndex(0)), 0u);
  EXPECT_EQ(assignment.SliceOf(KeyId(1), ChunkIndex(3)), 1u);
  EXPECT_EQ(assignment.SliceOf(KeyId(1), ChunkIndex(4)), 2u);
  EXPECT_EQ(assignment.SliceRangeOf(KeyId(1), ChunkIndex(3)), (ElementRange{30, 251}));
}

TEST(ChunkAssignmentTest, CountsTheChunksThatBordersMake) {
  EXPECT_EQ(CountChunks(400, {}, 100), 4);
  EXPECT_EQ(CountChunks(400, {30, 281}, 100), 6);
  EXPECT_EQ(CountChunks(3, {1, 2}, 100), 3);
  ChunkAssignment assignment = Made({1.0}, 1);
  EXPECT_FALSE(assignment.AddKey(KeyId(1), kMaxChunksPerKey + 1, {5}).ok());
  ChunkAssignment pairs = Made({1.0}, 2);
  EXPECT_FALSE(pairs.AddKey(KeyId(1), 2 * kMaxChunksPerKey, {1}).ok());
  EXPECT_TRUE(pairs.AddKey(KeyId(1), 2 * kMaxChunksPerKey, {2}).ok());
}

TEST(ChunkAssignmentTest, BordersThatDoNotRiseAreRefused) {
  ChunkAssignment assignment = Made({1.0}, 100);
  for (const std::vector<int64_t>& borders : {std::vector<int64_t>{0}, {5, 5}, {400}}) {
    EXPECT_EQ(assignment.AddKey(KeyId(1), 400, borders).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(assignment.ChunksOf(KeyId(1)), 0u);
}

TEST(ChunkAssignmentTest, PlacesCountTheChunksOfAllKeys) {
  ChunkAssignment assignment = Made({1.0}, 100);
  ASSERT_TRUE(assignment.AddKey(KeyId(1), 203).ok());
  ASSERT_TRUE(assignment.AddKey(KeyId(4), 101).ok());
  ASSERT_TRUE(assignment.AddKey(KeyId(5), 1).ok());
  EXPECT_EQ(assignment.PlaceOf(KeyId(1), ChunkIndex(2)), 2u);
  EXPECT_EQ(assignment.PlaceOf(KeyId(4), ChunkIndex(0)), 3u);
  EXPECT_EQ(assignment.PlaceOf(KeyId(5), ChunkIndex(0)), 5u);
}

TEST(ChunkAssignmentTest, RangesCoverEveryElementOnce) {
  for (int64_t elements = 1; elements < 400; ++elements) {
    ChunkAssignment assignment = Made({0.5, 0.5}, 7);
    ASSERT_TRUE(assignment.AddKey(KeyId(1), elements).ok());
    int64_t next = 0;
    for (uint32_t chunk = 0; chunk < assignment.ChunksOf(KeyId(1)); ++chunk) {
      const ElementRange range = assignment.RangeOf(KeyId(1), ChunkIndex(chunk));
      EXPECT_EQ(range.first_element, next);
      EXPECT_GE(range.elements, 1);
      EXPECT_LE(range.elements, 7);
      next += range.elements;
    }
    EXPECT_EQ(next, elements);
  }
}

TEST(ChunkAssignmentTest, TreesGetTheirShares) {
  const std::vector<double> shares = {0.5, 0.3, 0.2};
  ChunkAssignment assignment = Made(shares, 1000);
  for (uint32_t key = 1; key <= 40; ++key) ASSERT_TRUE(assignment.AddKey(KeyId(key), 10 + 5077 * (key % 7)).ok());
  const std::vector<int64_t> elements = ElementsPerTree(assignment, 40, 3);
  const double total = static_cast<double>(elements[0] + elements[1] + elements[2]);
  for (size_t tree = 0; tree < 3; ++tree) {
    // No tree is ever further off than about one chunk.
    EXPECT_NEAR(static_cast<double>(elements[tree]), shares[tree] * total, 1000) << tree;
  }
}

TEST(ChunkAssignmentTest, TheFirstChunkGoesToTheLargestShareAndTiesToTheFirstTree) {
  ChunkAssignment skewed = Made({0.2, 0.8}, 10);
  ASSERT_TRUE(skewed.AddKey(KeyId(1), 10).ok());
  EXPECT_EQ(skewed.TreeOf(KeyId(1), ChunkIndex(0)), TreeIndex(1));
  ChunkAssignment even = Made({0.5, 0.5}, 10);
  ASSERT_TRUE(even.AddKey(KeyId(1), 20).ok());
  EXPECT_EQ(even.TreeOf(KeyId(1), ChunkIndex(0)), TreeIndex(0));
  EXPECT_EQ(even.TreeOf(KeyId(1), ChunkIndex(1)), TreeIndex(1));
}

TEST(ChunkAssignmentTest, LaterKeysChangeNothing) {
  const std::vector<double> shares = {0.11, 0.22, 0.33, 0.34};
  ChunkAssignment shorter = Made(shares, 64);
  ChunkAssignment longer = Made(shares, 64);
  for (uint32_t key = 1; key <= 10; ++key) {
    ASSERT_TRUE(shorter.AddKey(KeyId(key), 100 * key + 3).ok());
    ASSERT_TRUE(longer.AddKey(KeyId(key), 100 * key + 3).ok());
  }
  ASSERT_TRUE(longer.AddKey(KeyId(11), 5000).ok());
  for (uint32_t key = 1; key <= 10; ++key) {
    ASSERT_EQ(shorter.ChunksOf(KeyId(key)), longer.ChunksOf(KeyId(key)));
    for (uint32_t chunk = 0; chunk < shorter.ChunksOf(KeyId(key)); ++chunk) {
      EXPECT_EQ(shorter.TreeOf(KeyId(key), ChunkIndex(chunk)), longer.TreeOf(KeyId(key), ChunkIndex(chunk)));
    }
  }
}

TEST(ChunkAssignmentTest, UnknownKeysHaveNoChunks) { EXPECT_EQ(Made({1.0}, 10).ChunksOf(KeyId(3)), 0u); }

TEST(ChunkAssignmentTest, RefusesBadKeys) {
  ChunkAssignment assignment = Made({1.0}, 1);
  ASSERT_TRUE(assignment.AddKey(KeyId(5), 1).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(5), 1).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(4), 1).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(6), 0).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(6), -1).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(6), kMaxChunksPerKey + 1).ok());
  EXPECT_FALSE(assignment.AddKey(KeyId(6), std::numeric_limits<int64_t>::max()).ok());
  EXPECT_EQ(assignment.ChunksOf(KeyId(6)), 0u);
}

TEST(ChunkAssignmentTest, RefusesBadShares) {
  EXPECT_FALSE(ChunkAssignment::Create({}, 10).ok());
  EXPECT_FALSE(ChunkAssignment::Create({0.5}, 10).ok());
  EXPECT_FALSE(ChunkAssignment::Create({0.5, 0.6}, 10).ok());
  EXPECT_FALSE(ChunkAssignment::Create({1.5, -0.5}, 10).ok());
  EXPECT_FALSE(ChunkAssignment::Create({std::numeric_limits<double>::quiet_NaN()}, 10).ok());
  EXPECT_FALSE(ChunkAssignment::Create({1.0}, 0).ok());
}

}  // namespace
}  // namespace banyan
