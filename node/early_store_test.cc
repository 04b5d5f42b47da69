#include "node/early_store.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ChunkMessage Chunk(uint32_t key, uint64_t round, uint32_t chunk, uint32_t source = 2) {
  ChunkMessage message;
  message.id.key = KeyId(key);
  message.id.round = Round(round);
  message.id.chunk = ChunkIndex(chunk);
  message.route.path = {NodeId(source), NodeId(1)};
  return message;
}

Payload Bytes(int64_t size) { return {Buffer::Allocate(size, DataType::kByte)}; }

TEST(EarlyStoreTest, GivesARoundAwayInOrder) {
  EarlyStore store(1 << 20);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 1), Bytes(10), Timestamp()));
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 0, 3), Bytes(10), Timestamp()));
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 0), Bytes(10), Timestamp()));
  EXPECT_TRUE(store.Keep(Chunk(2, 4, 0), Bytes(10), Timestamp()));
  EXPECT_TRUE(store.Keep(Chunk(1, 2, 0), Bytes(10), Timestamp()));
  EXPECT_THAT(store.RoundsOf(KeyId(1)), ElementsAre(Round(2), Round(5)));
  EXPECT_THAT(store.RoundsOf(KeyId(2)), ElementsAre(Round(4)));
  EXPECT_THAT(store.RoundsOf(KeyId(3)), IsEmpty());
  EXPECT_EQ(store.Take(KeyId(1), Round(2)).size(), 1u);
  const std::vector<EarlyStore::Chunk> taken = store.Take(KeyId(1), Round(5));
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].message.route.source(), NodeId(2));
  EXPECT_EQ(taken[1].message.route.source(), NodeId(3));
  EXPECT_EQ(taken[2].message.id.chunk, ChunkIndex(1));
  EXPECT_THAT(store.Take(KeyId(1), Round(5)), IsEmpty());
  EXPECT_EQ(store.size_bytes(), KeptBytes(Chunk(2, 4, 0), Bytes(10)));
}

TEST(EarlyStoreTest, KeepsADuplicateOnce) {
  EarlyStore store(1 << 20);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 1), Bytes(10), Timestamp()));
  const int64_t size = store.size_bytes();
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 1), Bytes(10), Timestamp()));
  EXPECT_EQ(store.size_bytes(), size);
  EXPECT_EQ(store.Take(KeyId(1), Round(5)).size(), 1u);
  EXPECT_EQ(store.size_bytes(), 0);
}

TEST(EarlyStoreTest, RefusesWhatFindsNoRoom) {
  const int64_t one = KeptBytes(Chunk(1, 5, 0), Bytes(1000));
  EarlyStore store(2 * one);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 0), Bytes(1000), Timestamp()));
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 1), Bytes(1000), Timestamp()));
  EXPECT_FALSE(store.Keep(Chunk(1, 5, 2), Bytes(1000), Timestamp()));
  EXPECT_FALSE(store.Keep(Chunk(1, 6, 0), {}, Timestamp()));
  // A duplicate of what is kept needs no room.
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 1), Bytes(1000), Timestamp()));
  store.set_capacity_bytes(3 * one);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 2), Bytes(1000), Timestamp()));
  store.Clear();
  EXPECT_EQ(store.size_bytes(), 0);
  EXPECT_THAT(store.RoundsOf(KeyId(1)), IsEmpty());
}

TEST(EarlyStoreTest, CountsHeadersToo) {
  ChunkMessage large_header = Chunk(1, 5, 0);
  large_header.frames.resize(100);
  large_header.route.path.resize(1000);
  EarlyStore store(1 << 20);
  EXPECT_TRUE(store.Keep(Chunk(1, 4, 0), {}, Timestamp()));
  const int64_t small_bytes = store.size_bytes();
  EXPECT_TRUE(store.Keep(large_header, {}, Timestamp()));
  EXPECT_GT(store.size_bytes(), 2 * small_bytes + 100 * static_cast<int64_t>(sizeof(FrameHeader)) + 998 * 4);
  EXPECT_EQ(store.size_bytes(), small_bytes + KeptBytes(large_header, {}));
}

TEST(EarlyStoreTest, DropsWhatIsOfAnEarlierEpoch) {
  EarlyStore store(1 << 20);
  for (const uint64_t epoch : {1, 2, 3}) {
    ChunkMessage chunk = Chunk(1, 5, 0);
    chunk.id.epoch = Epoch(epoch);
    EXPECT_TRUE(store.Keep(chunk, Bytes(10), Timestamp()));
  }
  EXPECT_EQ(store.DropBefore(Epoch(3)), 2u);
  EXPECT_EQ(store.size_bytes(), KeptBytes(Chunk(1, 5, 0), Bytes(10)));
  EXPECT_EQ(store.Take(KeyId(1), Round(5))[0].message.id.epoch, Epoch(3));
}

TEST(EarlyStoreTest, ALowerCapacityDropsNothingButLetsNoMoreIn) {
  EarlyStore store(1 << 20);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 0), Bytes(1000), Timestamp()));
  const int64_t size_bytes = store.size_bytes();
  store.set_capacity_bytes(0);
  EXPECT_EQ(store.size_bytes(), size_bytes);
  EXPECT_FALSE(store.Keep(Chunk(1, 5, 1), {}, Timestamp()));
  EXPECT_EQ(store.Take(KeyId(1), Round(5)).size(), 1u);
  EXPECT_EQ(store.size_bytes(), 0);
}

TEST(EarlyStoreTest, DropsWhatIsOldAndOfAnUnknownKey) {
  const Timestamp start;
  const Timestamp later = start + absl::Seconds(10);
  EarlyStore store(1 << 20);
  EXPECT_TRUE(store.Keep(Chunk(1, 5, 0), Bytes(10), start));
  EXPECT_TRUE(store.Keep(Chunk(9, 5, 0), Bytes(10), start));
  EXPECT_TRUE(store.Keep(Chunk(9, 5, 1), Bytes(10), later));
  EXPECT_TRUE(store.Keep(Chunk(8, 7, 0), Bytes(10), start));
  const auto is_known = [](const ChunkId& id) { return id.key == KeyId(1); };
  EXPECT_EQ(store.DropUnknown(is_known, start), 0u);
  EXPECT_EQ(store.DropUnknown(is_known, later), 2u);
  EXPECT_THAT(store.RoundsOf(KeyId(1)), ElementsAre(Round(5)));
  EXPECT_THAT(store.RoundsOf(KeyId(9)), ElementsAre(Round(5)));
  EXPECT_THAT(store.RoundsOf(KeyId(8)), IsEmpty());
  EXPECT_EQ(store.size_bytes(), 2 * KeptBytes(Chunk(1, 5, 0), Bytes(10)));
  EXPECT_FALSE(EarlyStore(10).HasRoomFor(Chunk(1, 5, 0), Bytes(10)));
  EXPECT_TRUE(store.HasRoomFor(Chunk(1, 5, 0), Bytes(10)));
}

}  // namespace
}  // namespace banyan
