#include "compression/cuda/emulated_device.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// A copy of the numbers in the device's memory.
Buffer ToDevice(const std::vector<uint32_t>& numbers, Device& device) {
  Buffer memory = *device.Allocate(4 * std::ssize(numbers), DataType::kByte);
  EXPECT_TRUE(device.CopyToDevice(numbers.data(), memory.size_bytes(), memory.mutable_data()).ok());
  return memory;
}

std::vector<uint32_t> ToHost(const Buffer& memory, Device& device) {
  std::vector<uint32_t> numbers(memory.size_bytes() / 4);
  EXPECT_TRUE(device.CopyToHost(memory.data(), memory.size_bytes(), numbers.data()).ok());
  return numbers;
}

TEST(EmulatedDeviceTest, RunsAllThreadsOfAllBlocksInAnyOrder) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EmulatedDevice device(seed);
    std::vector<uint32_t> numbers(3000);
    std::iota(numbers.begin(), numbers.end(), 5u);
    Buffer memory = ToDevice(numbers, device);
    Buffer totals = ToDevice({0, 0, 0}, device);
    const SumBeforeKernel kernel = {.numbers = static_cast<uint32_t*>(memory.mutable_data()),
                                    .count = 1000,
                                    .totals = static_cast<uint32_t*>(totals.mutable_data())};
    ASSERT_TRUE(device.Run(kernel, 3).ok());
    const std::vector<uint32_t> sums = ToHost(memory, device);
    for (int block = 0; block < 3; ++block) {
      uint32_t expected = 0;
      for (int i = block * 1000; i < (block + 1) * 1000; ++i) {
        ASSERT_EQ(sums[i], expected) << i;
        expected += numbers[i];
      }
      EXPECT_EQ(ToHost(totals, device)[block], expected);
    }
  }
}

TEST(EmulatedDeviceTest, RunsNothingWithoutBlocks) {
  EmulatedDevice device(1);
  EXPECT_TRUE(device.Run(SumBeforeKernel{}, 0).ok());
}

TEST(EmulatedDeviceTest, MemoryIsTheDevicesAndNotInitialised) {
  EmulatedDevice device(1);
  Buffer memory = *device.Allocate(2, DataType::kFloat32);
  EXPECT_EQ(memory.memory(), MemoryKind::kDevice);
  EXPECT_THAT(ToHost(memory, device), testing::Each(0xa5a5a5a5));
  ASSERT_TRUE(device.Clear(memory.mutable_data(), 4).ok());
  EXPECT_THAT(ToHost(memory, device), testing::ElementsAre(0u, 0xa5a5a5a5));
}

TEST(EmulatedDeviceTest, CountsCopies) {
  EmulatedDevice device(1);
  const Buffer memory = ToDevice({1, 2, 3}, device);
  ToHost(memory, device);
  ToHost(memory, device);
  EXPECT_EQ(device.to_device().copies, 1);
  EXPECT_EQ(device.to_device().bytes, 12);
  EXPECT_EQ(device.to_host().copies, 2);
  EXPECT_EQ(device.to_host().bytes, 24);
}

TEST(EmulatedDeviceDeathTest, TheHostReachesNoneOfItsMemory) {
  EmulatedDevice device(1);
  const Buffer memory = ToDevice({1, 2, 3}, device);
  EXPECT_DEATH(static_cast<void>(*static_cast<const volatile uint32_t*>(memory.data())), "");
}

TEST(EmulatedDeviceTest, HasSoManyAllocations) {
  EmulatedDevice device(1, 2);
  EXPECT_TRUE(device.Allocate(1, DataType::kByte).ok());
  EXPECT_TRUE(device.Allocate(0, DataType::kByte).ok());
  EXPECT_EQ(device.Allocate(1, DataType::kByte).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace banyan
