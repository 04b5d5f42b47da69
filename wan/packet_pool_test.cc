#include "wan/packet_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace banyan {
namespace {

std::vector<uint8_t> Bytes(size_t size, uint8_t value) { return std::vector<uint8_t>(size, value); }

std::optional<uint32_t> Store(PacketPool& pool, size_t size, uint8_t value, int users) {
  PacketPool::Buffer buffer = PacketPool::NewBuffer();
  std::fill_n(buffer.get(), size, value);
  return pool.Store(buffer, size, users);
}

TEST(PacketPoolTest, KeepsWhatItIsGiven) {
  PacketPool pool(1 << 20);
  const uint32_t small = *Store(pool, 100, 1, 1);
  const uint32_t large = *Store(pool, PacketPool::kLargestPacket, 2, 1);
  EXPECT_EQ(pool.BytesOf(small), absl::MakeConstSpan(Bytes(100, 1)));
  EXPECT_EQ(pool.BytesOf(large), absl::MakeConstSpan(Bytes(PacketPool::kLargestPacket, 2)));
  EXPECT_EQ(pool.used_slots(), 2u);
}

TEST(PacketPoolTest, TakesALargeBufferAndGivesAnother) {
  PacketPool pool(1 << 20);
  PacketPool::Buffer buffer = PacketPool::NewBuffer();
  const uint8_t* memory = buffer.get();
  std::fill_n(buffer.get(), 60000, 7);
  const uint32_t slot = *pool.Store(buffer, 60000, 1);
  EXPECT_EQ(pool.BytesOf(slot).data(), memory);
  EXPECT_NE(buffer.get(), memory);
  std::fill_n(buffer.get(), PacketPool::kLargestPacket, 8);
  EXPECT_EQ(pool.BytesOf(slot), absl::MakeConstSpan(Bytes(60000, 7)));
}

TEST(PacketPoolTest, UsesBuffersAgainWhenTheLastUserHasGone) {
  PacketPool pool(1 << 20);
  const uint32_t slot = *Store(pool, 100, 1, 2);
  const size_t buffers = pool.buffer_bytes();
  pool.Release(slot);
  EXPECT_EQ(pool.used_slots(), 1u);
  EXPECT_NE(*Store(pool, 100, 2, 1), slot);
  pool.Release(slot);
  EXPECT_EQ(*Store(pool, 100, 3, 1), slot);
  EXPECT_EQ(pool.buffer_bytes(), 2 * buffers);
}

TEST(PacketPoolTest, RefusesBeyondItsLimit) {
  PacketPool pool(5000);
  EXPECT_TRUE(Store(pool, 1500, 1, 1).has_value());
  const std::optional<uint32_t> second = Store(pool, 1500, 1, 1);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(Store(pool, 1500, 1, 1).has_value());
  EXPECT_FALSE(Store(pool, 15000, 1, 1).has_value());
  pool.Release(*second);
  EXPECT_TRUE(Store(pool, 1500, 1, 1).has_value());
}

}  // namespace
}  // namespace banyan
