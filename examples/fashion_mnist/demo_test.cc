// `banyan demo` as a whole, with all its processes. What needs an emulated WAN is skipped where the system forbids one.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "wan/testing/testing_wan.h"
#include "wan/wan_client.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
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

// Writes an overlay of three nodes and returns its path; `rate` is YAML of its links.
std::string WriteOverlay(const std::string& name, const std::string& rate) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "nodes: [{name: n1}, {name: n2}, {name: n3}]\n"
                      << "links: [{between: [n1, n2]" << rate << "}, {between: [n2, n3]" << rate << "}]\n";
  return path;
}

// Guessing reaches 0.1.
TEST(DemoTest, TwoSideBySideTrainIdenticalReplicasThatHaveLearned) {
  const std::vector<std::string> arguments = {"--network", "loopback", "--rounds",         "60", "--batch", "8",
                                              "--hidden",  "32",       "--least-accuracy", "0.6"};
  std::vector<std::string> other = arguments;
  other.insert(other.end(), {"--seed", "2"});
  const std::unique_ptr<ChildProcess> demos[] = {StartDemo("first", arguments), StartDemo("second", other)};
  for (const std::unique_ptr<ChildProcess>& demo : demos) {
    ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
    EXPECT_EQ(demo->failure(), "") << demo->LogTail(50);
    const std::vector<std::string> lines = demo->TakeLines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0], MatchesRegex("demo: nodes=9 rounds=60 accuracy=0\\.[6-9].* replicas=identical sync_ms_p50=.* "
                                       "wire_mb=.* network=loopback policies=.*"));
  }
}

TEST(DemoTest, FailsWhereItHasLearnedTooLittle) {
  const std::unique_ptr<ChildProcess> demo =
      StartDemo("unlearned", {"--rounds", "2", "--batch", "2", "--network", "loopback", "--overlay",
                              WriteOverlay("unlearned.yaml", ""), "--least-accuracy", "0.99"});
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(1), ContainsRegex("expected a test accuracy of at least 0.990 .*, reached 0\\."));
  EXPECT_THAT(demo->TakeLines(), ElementsAre(HasSubstr("replicas=identical")));
}

TEST(DemoTest, CtrlCLeavesNoProcessBehind) {
  const std::unique_ptr<ChildProcess> demo = StartDemo("interrupted", {"--network", "loopback"});
  const std::vector<pid_t> children = WaitForChildren(demo->pid(), 20);
  EXPECT_EQ(children.size(), 20u);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(1), HasSubstr("interrupted"));
  EXPECT_THAT(StillThere(children), IsEmpty());
}

TEST(DemoTest, ADeadChildEndsItAndIsNamed) {
  const std::unique_ptr<ChildProcess> demo = StartDemo("bereaved", {"--network", "loopback"});
  const std::vector<pid_t> children = WaitForChildren(demo->pid(), 20);
  ASSERT_EQ(children.size(), 20u);
  kill(children[5], SIGSEGV);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(200), HasSubstr("ended with signal 11"));
  EXPECT_THAT(StillThere(children), IsEmpty());
}

TEST(DemoTest, WithoutAnEmulatedWanItSaysWhyAndUsesLoopback) {
  const std::unique_ptr<ChildProcess> demo =
      StartDemo("without", {"--rounds", "2", "--batch", "2", "--overlay", WriteOverlay("without.yaml", "")});
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "") << demo->LogTail(50);
  EXPECT_THAT(demo->LogTail(1000), ContainsRegex("loopback instead of an emulated WAN: .*has no rate"));
  EXPECT_THAT(demo->TakeLines(), ElementsAre(HasSubstr("network=loopback")));
}

class DemoWanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status possible = TryToEmulate();
    if (IsForbidden(possible)) GTEST_SKIP() << possible.message();
    ASSERT_TRUE(possible.ok()) << possible;
  }

  static std::unique_ptr<ChildProcess> StartOnWan(const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "--network", "wan", "--batch",   "8",
        "--hidden",  "32",  "--overlay", WriteOverlay(name + ".yaml", ", mbps: 100, delay_ms: 1")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return StartDemo(name, arguments);
  }

  struct Wan {
    std::string directory;  // of the demo
    std::string id;
    pid_t forwarder = 0;
  };

  // The demo's emulated WAN once every process runs in it; without an id when that takes too long.
  static Wan AwaitWan(const ChildProcess& demo) {
    const absl::Time deadline = absl::Now() + kPatience;
    for (; absl::Now() < deadline; absl::SleepFor(absl::Milliseconds(20))) {
      const std::optional<Wan> wan = FindWan(demo);
      if (wan.has_value() && FindWanProcesses(wan->id).size() == kWanProcesses) return *wan;
    }
    return {};
  }

  static std::optional<Wan> FindWan(const ChildProcess& demo) {
    const std::vector<pid_t> children = ChildrenOf(demo.pid());
    for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
      const std::string path = entry.path();
      if (!path.starts_with("/tmp/banyan-demo")) continue;
      const absl::StatusOr<WanStatus> status = WanClient(path + "/wan").Status();
      if (!status.ok()) continue;
      const auto pid = static_cast<pid_t>(status->pid);
      if (std::find(children.begin(), children.end(), pid) != children.end()) return Wan{path, status->id, pid};
    }
    return std::nullopt;
  }

  static void ExpectNothingLeft(const Wan& wan) {
    EXPECT_THAT(FindWanProcesses(wan.id), IsEmpty());
    EXPECT_THAT(StillThere({wan.forwarder}), IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(wan.directory));
  }

  // The scheduler and what asks it, three nodes and three training processes.
  static constexpr size_t kWanProcesses = 8;
};

TEST_F(DemoWanTest, TrainsWhileRatesChange) {
  const std::unique_ptr<ChildProcess> demo =
      StartOnWan("moving", {"--rounds", "30", "--redraw-seconds", "0.5", "--json"});
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "") << demo->LogTail(50);
  const std::vector<std::string> lines = demo->TakeLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("\"replicas_identical\":true"));
  EXPECT_THAT(lines[0], HasSubstr("\"network\":\"wan\""));
  EXPECT_THAT(lines[0], ContainsRegex("\"rate_changes\":[1-9]"));
  EXPECT_THAT(lines[0], HasSubstr("\"wan_mbps\":"));
}

// The nodes' Adam is on every member, so that roots have nothing of it (sim/moving_roots_test.cc moves them).
TEST_F(DemoWanTest, NodesStepAdamAlikeWhileRatesChange) {
  const std::unique_ptr<ChildProcess> demo = StartOnWan(
      "adam",
      {"--rounds", "60", "--redraw-seconds", "0.5", "--optimizer", "node-adam", "--least-accuracy", "0.5", "--json"});
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "") << demo->LogTail(50);
  const std::vector<std::string> lines = demo->TakeLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("\"replicas_identical\":true"));
  EXPECT_THAT(lines[0], ContainsRegex("\"rate_changes\":[1-9]"));
}

TEST_F(DemoWanTest, CtrlCLeavesNothingBehind) {
  const std::unique_ptr<ChildProcess> demo = StartOnWan("interrupted", {"--rounds", "100000"});
  const Wan wan = AwaitWan(*demo);
  ASSERT_NE(wan.id, "") << demo->LogTail(50);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(1), HasSubstr("interrupted"));
  ExpectNothingLeft(wan);
}

TEST_F(DemoWanTest, ADeadEmulatorEndsItAndIsNamed) {
  const std::unique_ptr<ChildProcess> demo = StartOnWan("cut", {"--rounds", "100000"});
  const Wan wan = AwaitWan(*demo);
  ASSERT_NE(wan.id, "") << demo->LogTail(50);
  ASSERT_EQ(kill(wan.forwarder, SIGKILL), 0);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(50), HasSubstr("the emulated WAN ended too early"));
  ExpectNothingLeft(wan);
}

}  // namespace
}  // namespace banyan
