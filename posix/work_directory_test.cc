#include "posix/work_directory.h"

#include <filesystem>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(WorkDirectoryTest, GoesWithItsContent) {
  std::string path;
  {
    const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
    ASSERT_TRUE(directory.ok()) << directory.status();
    path = (*directory)->path();
    ASSERT_TRUE((*directory)->Write("log", "text").ok());
    EXPECT_EQ(std::filesystem::file_size((*directory)->File("log")), 4u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WorkDirectoryTest, StaysWhenKept) {
  std::string path;
  {
    const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
    ASSERT_TRUE(directory.ok()) << directory.status();
    (*directory)->Keep();
    path = (*directory)->path();
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(path);
}

TEST(WorkDirectoryTest, TellsWhatItCannotWrite) {
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
  ASSERT_TRUE(directory.ok()) << directory.status();
  EXPECT_FALSE((*directory)->Write("no/such/place", "text").ok());
}

}  // namespace
}  // namespace banyan
