#include "deploy/wan/packet_pool.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

std::vector<uint8_t> Bytes(size_t size, uint8_t value) { return std::vector<uint8_t>(size, value); }

TEST(PacketPoolTest, KeepsWhatItIsGiven) {
  PacketPool pool(1 << 20);
  const uint32_t small = *pool.Store(Bytes(100, 1), 1);
  const uint32_t large = *pool.Store(Bytes(PacketPool::kLargestPacket, 2), 1);
  EXPECT_EQ(pool.BytesOf(small), absl::MakeConstSpan(Bytes(100, 1)));
  EXPECT_EQ(pool.BytesOf(large), absl::MakeConstSpan(Bytes(PacketPool::kLargestPacket, 2)));
  EXPECT_EQ(pool.used_slots(), 2u);
}

TEST(PacketPoolTest, UsesBuffersAgainWhenTheLastUserHasGone) {
  PacketPool pool(1 << 20);
  const uint32_t slot = *pool.Store(Bytes(100, 1), 2);
  const size_t buffers = pool.buffer_bytes();
  pool.Release(slot);
  EXPECT_EQ(pool.used_slots(), 1u);
  EXPECT_NE(*pool.Store(Bytes(100, 2), 1), slot);
  pool.Release(slot);
  EXPECT_EQ(*pool.Store(Bytes(100, 3), 1), slot);
  EXPECT_EQ(pool.buffer_bytes(), 2 * buffers);
}

TEST(PacketPoolTest, RefusesBeyondItsLimit) {
  PacketPool pool(5000);
  EXPECT_TRUE(pool.Store(Bytes(1500, 1), 1).has_value());
  const std::optional<uint32_t> second = pool.Store(Bytes(1500, 1), 1);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(pool.Store(Bytes(1500, 1), 1).has_value());
  EXPECT_FALSE(pool.Store(Bytes(15000, 1), 1).has_value());
  pool.Release(*second);
  EXPECT_TRUE(pool.Store(Bytes(1500, 1), 1).has_value());
}

}  // namespace
}  // namespace banyan
