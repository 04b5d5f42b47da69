#include "posix/program_path.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

void MakeProgram(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST(ProgramPathTest, FindsItself) {
  const absl::StatusOr<std::string> own = OwnProgram();
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_THAT(*own, EndsWith("/posix/tests"));
}

TEST(ProgramPathTest, FindsABuiltAndAnInstalledProgram) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "built";
  MakeProgram(root / "examples/mnist/trainer");
  MakeProgram(root / "tools/peer");
  const absl::StatusOr<std::string> built = FindProgramFrom(root / "tools", "examples/mnist/trainer");
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(*built, root / "examples/mnist/trainer");
  const absl::StatusOr<std::string> deeper = FindProgramFrom(root / "tools/job", "examples/mnist/trainer");
  ASSERT_TRUE(deeper.ok()) << deeper.status();
  EXPECT_EQ(*deeper, root / "examples/mnist/trainer");
  const absl::StatusOr<std::string> installed = FindProgramFrom(root / "tools", "bench/peer");
  ASSERT_TRUE(installed.ok()) << installed.status();
  EXPECT_EQ(*installed, root / "tools/peer");
}

TEST(ProgramPathTest, SaysWhatToBuild) {
  const absl::StatusOr<std::string> program = FindProgramFrom("/nonexistent/tools", "bench/peer");
  EXPECT_EQ(program.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("/nonexistent/bench/peer"));
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("./banyan build //bench:peer"));
}

}  // namespace
}  // namespace banyan
