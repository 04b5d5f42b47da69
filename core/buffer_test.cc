#include "core/buffer.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(BufferTest, AllocatesAlignedZeros) {
  Buffer buffer = Buffer::Allocate(100);
  EXPECT_EQ(buffer.size_bytes(), 400);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  for (float value : buffer.floats()) EXPECT_EQ(value, 0.0f);
  EXPECT_TRUE(Buffer::Allocate(0).empty());
}

TEST(BufferTest, CopiesShareMemory) {
  Buffer buffer = Buffer::CopyOf(std::vector<float>{1, 2, 3});
  Buffer copy = buffer;
  copy.mutable_floats()[1] = 9;
  EXPECT_EQ(buffer.floats()[1], 9.0f);
}

TEST(BufferTest, SliceKeepsMemoryAlive) {
  int released = 0;
  std::vector<float> memory = {1, 2, 3, 4};
  Buffer slice;
  {
    Buffer whole = Buffer::Wrap(memory.data(), 4, DataType::kFloat32, MemoryKind::kShared, [&] { ++released; });
    slice = whole.Slice(1, 2);
    EXPECT_EQ(slice.memory(), MemoryKind::kShared);
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(slice.floats()[0], 2.0f);
  EXPECT_EQ(slice.elements(), 2);
  slice = Buffer();
  EXPECT_EQ(released, 1);
}

TEST(BufferTest, BytesAndFloatsViewTheSameMemory) {
  Buffer floats = Buffer::CopyOf(std::vector<float>{1, 2});
  Buffer bytes = floats.AsBytes();
  EXPECT_EQ(bytes.elements(), 8);
  EXPECT_EQ(bytes.data(), floats.data());
  EXPECT_EQ(bytes.AsFloats().floats()[1], 2.0f);
}

TEST(BufferTest, KnowsTheSizesOfAllTypes) {
  const std::vector<std::pair<DataType, int64_t>> sizes = {
      {DataType::kFloat32, 4}, {DataType::kFloat16, 2}, {DataType::kBFloat16, 2}, {DataType::kFloat64, 8},
      {DataType::kInt32, 4},   {DataType::kInt64, 8},   {DataType::kByte, 1}};
  for (const auto& [type, size] : sizes) {
    const Buffer buffer = Buffer::Allocate(3, type);
    EXPECT_EQ(buffer.size_bytes(), 3 * size) << NameOf(type);
    EXPECT_EQ(buffer.AsBytes().As(type).elements(), 3) << NameOf(type);
    EXPECT_EQ(static_cast<const uint8_t*>(buffer.Slice(1, 2).data()) - static_cast<const uint8_t*>(buffer.data()),
              size);
  }
}

TEST(BufferTest, PayloadBytesAddsFrames) {
  EXPECT_EQ(PayloadBytes({Buffer::Allocate(3), Buffer::Allocate(5, DataType::kByte)}), 17);
  EXPECT_EQ(PayloadBytes({}), 0);
}

TEST(BufferDeathTest, SliceOutsideIsOurOwnBug) {
  Buffer buffer = Buffer::Allocate(4);
  EXPECT_DEATH(buffer.Slice(3, 2), "invariant broken");
}

}  // namespace
}  // namespace banyan
