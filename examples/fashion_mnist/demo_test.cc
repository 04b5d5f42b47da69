// `banyan demo` as a whole, with all its processes.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/child_process.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr absl::Duration kPatience = absl::Minutes(10);

std::unique_ptr<ChildProcess> StartDemo(const std::string& name, std::vector<std::string> arguments) {
  std::vector<std::string> line = {absl::StrCat(std::getenv("TEST_SRCDIR"), "/banyan/tools/banyan"), "demo"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  absl::StatusOr<std::unique_ptr<ChildProcess>> demo =
      ChildProcess::Start({.name = name,
                           .arguments = line,
                           .log_path = absl::StrCat(::testing::TempDir(), "/", name),
                           .capture_output = true});
  EXPECT_TRUE(demo.ok()) << demo.status();
  return *std::move(demo);
}

// The processes that `parent` has started and that still run.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // PID (NAME) STATE PARENT ...: the name may hold anything but is followed by the last parenthesis.
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string state;
    pid_t of = 0;
    if (fields >> state >> of && of == parent && state != "Z") children.push_back(std::stoi(name));
  }
  return children;
}

std::vector<pid_t> StillThere(const std::vector<pid_t>& processes) {
  std::vector<pid_t> there;
  for (const pid_t process : processes) {
    if (kill(process, 0) == 0) there.push_back(process);
  }
  return there;
}

std::vector<pid_t> WaitForChildren(pid_t parent, size_t count) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (ChildrenOf(parent).size() < count && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(50));
  return ChildrenOf(parent);
}

TEST(DemoTest, TwoSideBySideTrainIdenticalReplicas) {
  const std::unique_ptr<ChildProcess> demos[] = {StartDemo("first", {"--rounds", "8", "--batch", "8"}),
                                                 StartDemo("second", {"--rounds", "8", "--batch", "8", "--seed", "2"})};
  for (const std::unique_ptr<ChildProcess>& demo : demos) {
    ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
    EXPECT_EQ(demo->failure(), "") << demo->LogTail(50);
    const std::vector<std::string> lines = demo->TakeLines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0],
                MatchesRegex("demo: nodes=9 rounds=8 accuracy=0\\..* replicas=identical sync_ms_p50=.* wire_mb=.*"));
  }
}

TEST(DemoTest, CtrlCLeavesNoProcessBehind) {
  const std::unique_ptr<ChildProcess> demo = StartDemo("interrupted", {});
  const std::vector<pid_t> children = WaitForChildren(demo->pid(), 19);
  EXPECT_EQ(children.size(), 19u);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(1), HasSubstr("interrupted"));
  EXPECT_THAT(StillThere(children), IsEmpty());
}

TEST(DemoTest, ADeadChildEndsItAndIsNamed) {
  const std::unique_ptr<ChildProcess> demo = StartDemo("bereaved", {});
  const std::vector<pid_t> children = WaitForChildren(demo->pid(), 19);
  ASSERT_EQ(children.size(), 19u);
  kill(children[5], SIGSEGV);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(200), HasSubstr("ended with signal 11"));
  EXPECT_THAT(StillThere(children), IsEmpty());
}

}  // namespace
}  // namespace banyan
