#include "posix/fenced_memory.h"

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(FencedMemoryTest, KeepsWhatIsWrittenWhileItIsOpen) {
  const std::unique_ptr<FencedMemory> memory = FencedMemory::Map(10000).value();
  uint8_t* const bytes = static_cast<uint8_t*>(memory->data());
  memory->Open();
  EXPECT_EQ(bytes[9999], 0);
  bytes[9999] = 7;
  memory->Close();
  memory->Open();
  EXPECT_EQ(bytes[9999], 7);
}

TEST(FencedMemoryDeathTest, EndsTheProcessThatReachesIntoItWhileItIsClosed) {
  const std::unique_ptr<FencedMemory> memory = FencedMemory::Map(10000).value();
  volatile uint8_t* const bytes = static_cast<uint8_t*>(memory->data());
  EXPECT_DEATH(static_cast<void>(bytes[9999]), "");
  memory->Open();
  memory->Close();
  EXPECT_DEATH(bytes[0] = 1, "");
}

}  // namespace
}  // namespace banyan
