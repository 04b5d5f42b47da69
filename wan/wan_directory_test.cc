#include "wan/wan_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

WanDirectory Fresh(const std::string& name) {
  return WanDirectory(absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name));
}

TEST(WanDirectoryTest, TheLockIsHeldAsLongAsItsDescriptorIsOpen) {
  const WanDirectory directory = Fresh("lock");
  EXPECT_FALSE(directory.IsLocked());
  ASSERT_TRUE(directory.Make().ok());
  ASSERT_TRUE(directory.Make().ok());
  {
    const absl::StatusOr<FileDescriptor> lock = directory.Lock();
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_TRUE(directory.IsLocked());
    EXPECT_EQ(directory.Lock().status().code(), absl::StatusCode::kAlreadyExists);
  }
  EXPECT_FALSE(directory.IsLocked());
  EXPECT_TRUE(directory.Remove().ok());
  EXPECT_NE(access(directory.path().c_str(), F_OK), 0);
  EXPECT_TRUE(directory.Remove().ok());
}

// Whoever waits for an emulator to start looks again and again.
TEST(WanDirectoryTest, LookingAtTheLockKeepsNobodyFromIt) {
  const WanDirectory directory = Fresh("looked_at");
  ASSERT_TRUE(directory.Make().ok());
  std::atomic<bool> enough = false;
  std::thread observer([&] {
    while (!enough) directory.IsLocked();
  });
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) refused += directory.Lock().ok() ? 0 : 1;
  enough = true;
  observer.join();
  EXPECT_EQ(refused, 0);
}

TEST(WanDirectoryTest, KeepsTheState) {
  const WanDirectory directory = Fresh("state");
  ASSERT_TRUE(directory.Make().ok());
  EXPECT_FALSE((*directory.ReadState()).has_value());
  WanStatus status;
  status.id = "ab";
  status.overlay = "a.yaml";
  ASSERT_TRUE(directory.WriteState(status).ok());
  const absl::StatusOr<std::optional<WanStatus>> read = directory.ReadState();
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->id, "ab");
  ASSERT_TRUE(directory.Remove().ok());
  EXPECT_FALSE((*directory.ReadState()).has_value());
}

TEST(WanDirectoryTest, LeavesFilesThatItDidNotMake) {
  const WanDirectory directory = Fresh("mixed");
  ASSERT_TRUE(directory.Make().ok());
  std::ofstream(directory.path() + "/mine") << "x";
  EXPECT_TRUE(directory.Remove().ok());
  EXPECT_EQ(access((directory.path() + "/mine").c_str(), F_OK), 0);
}

TEST(WanDirectoryTest, RefusesWhatIsNoDirectoryOfItsOwn) {
  const WanDirectory file = Fresh("file");
  std::ofstream(file.path()) << "x";
  EXPECT_THAT(std::string(file.Make().message()), HasSubstr("expected"));
  const WanDirectory link = Fresh("link");
  ASSERT_EQ(symlink("/tmp", link.path().c_str()), 0);
  EXPECT_FALSE(link.Make().ok());
  EXPECT_FALSE(Fresh("no/such/parent").Make().ok());
}

}  // namespace
}  // namespace banyan
