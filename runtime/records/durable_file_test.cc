#include "runtime/records/durable_file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

std::vector<std::string>& Synced() {
  static auto& synced = *new std::vector<std::string>;
  return synced;
}

}  // namespace

// In place of the C library's: notes what is forced to the disk.
extern "C" int fsync(int fd) {
  char path[PATH_MAX] = {};
  if (readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path, sizeof(path) - 1) > 0) Synced().emplace_back(path);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace banyan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class DurableFileTest : public ::testing::Test {
 protected:
  DurableFileTest() {
    std::string name = std::filesystem::canonical(::testing::TempDir()).string() + "/durable_XXXXXX";
    directory_ = mkdtemp(name.data());
    Synced().clear();
  }

  std::string directory_;
};

TEST_F(DurableFileTest, ADirectorysNameSurvivesWithThoseAroundIt) {
  ASSERT_TRUE(MakeDirectory(directory_ + "/a/b/state").ok());
  for (const char* folder : {"", "/a", "/a/b"}) EXPECT_THAT(Synced(), Contains(directory_ + folder));
  struct stat info;
  ASSERT_EQ(stat((directory_ + "/a/b/state").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(DurableFileTest, SoDoesThatOfOneWhoseMakerEndedTooSoon) {
  ASSERT_EQ(mkdir((directory_ + "/state").c_str(), 0700), 0);
  ASSERT_TRUE(MakeDirectory(directory_ + "/state").ok());
  EXPECT_THAT(Synced(), Contains(directory_));
}

TEST_F(DurableFileTest, WhatKeepsADirectoryFromBeingMadeIsNamed) {
  ASSERT_TRUE(WriteDurably(directory_ + "/file", "").ok());
  const absl::Status status = MakeDirectory(directory_ + "/file/a/state");
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot create the directory " + directory_ + "/file/a"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace banyan
