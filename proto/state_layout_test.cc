#include "proto/state_layout.h"

#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(StateLayoutTest, ChunksCoverEveryByteOnce) {
  const std::vector<int64_t> sizes = {
      1, 1023, 1024, 1025, 5'000'000, 500'000'000, 10'000'000'000, 1LL << 38, (1LL << 38) + 1, StateLayout::kMostBytes};
  for (int64_t size : sizes) {
    const StateLayout layout(size);
    ASSERT_GE(layout.chunks(), 1u) << size;
    ASSERT_LE(layout.chunks(), StateLayout::kMostChunks) << size;
    EXPECT_LE(layout.chunk_bytes(), StateLayout::kMostChunkBytes) << size;
    const ChunkIndex last(layout.chunks() - 1);
    EXPECT_EQ(layout.OffsetOf(last) + layout.SizeOf(last), size);
    EXPECT_GE(layout.SizeOf(last), 1);
    EXPECT_FALSE(layout.Has(last.Next()));
    EXPECT_GE(layout.slot_bytes(), layout.hash_bytes());
  }
}

TEST(StateLayoutTest, NothingHasNoChunks) {
  EXPECT_EQ(StateLayout(0).chunks(), 0u);
  EXPECT_FALSE(StateLayout(0).Has(ChunkIndex(0)));
}

TEST(StateLayoutTest, ChunksGrowWithTheState) {
  EXPECT_EQ(StateLayout(1000).chunk_bytes(), 1 << 10);
  EXPECT_EQ(StateLayout(5'000'000).chunk_bytes(), 1 << 10);
  EXPECT_EQ(StateLayout(500'000'000).chunk_bytes(), 1 << 16);
  EXPECT_EQ(StateLayout(10'000'000'000).chunk_bytes(), 1 << 19);
}

}  // namespace
}  // namespace banyan
