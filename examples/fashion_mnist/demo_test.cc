// `banyan demo` as a whole, with all its processes. What needs an emulated WAN is skipped where the system forbids one.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "examples/fashion_mnist/running_demo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/http_get.h"
#include "wan/testing/testing_wan.h"
#include "wan/wan_client.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr absl::Duration kPatience = kDemoPatience;

// Where a demo's page is, and the token that its buttons need.
struct DemoAddress {
  DemoAddress(int port, std::string token) : port(port), token(std::move(token)) {}

  // Returns the whole answer.
  std::string Post(const std::string& path, const std::string& body) const {
    const FileDescriptor fd = Connect(port);
    const std::string request =
        absl::StrCat("POST /api/faults/", path, " HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer ", token,
                     "\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
    EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return ReadAll(fd.get());
  }

  int port = 0;
  std::string token;
};

// In place of the desktop's browser: writes down which address it was given.
class BrowserStandIn {
 public:
  explicit BrowserStandIn(const std::string& name)
      : folder_(absl::StrCat(::testing::TempDir(), "/", name)), path_(std::getenv("PATH")) {
    std::filesystem::create_directories(folder_);
    const std::string program = folder_ + "/xdg-open";
    std::ofstream(program) << "#!/bin/sh\necho \"$1\" >'" << folder_ << "/new' && mv '" << folder_ << "/new' '"
                           << folder_ << "/address'\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("PATH", absl::StrCat(folder_, ":", path_).c_str(), 1);
  }
  BrowserStandIn(const BrowserStandIn&) = delete;
  BrowserStandIn& operator=(const BrowserStandIn&) = delete;
  ~BrowserStandIn() { setenv("PATH", path_.c_str(), 1); }

  DemoAddress AwaitAddress() const {
    const absl::Time deadline = absl::Now() + kPatience;
    std::string address;
    while (!std::getline(std::ifstream(folder_ + "/address"), address) && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(20));
    }
    std::smatch parts;
    EXPECT_TRUE(std::regex_match(address, parts, std::regex("http://127\\.0\\.0\\.1:([0-9]+)/#demo=([0-9a-f]{32})")))
        << address;
    return parts.empty() ? DemoAddress(0, "") : DemoAddress(std::stoi(parts[1]), parts[2]);
  }

 private:
  const std::string folder_;
  const std::string path_;
};

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

TEST(DemoTest, ADeadChildIsNamedAndStartedAgain) {
  const std::unique_ptr<ChildProcess> demo = StartDemo("bereaved", {"--network", "loopback"});
  std::vector<pid_t> children = WaitForChildren(demo->pid(), 20);
  ASSERT_EQ(children.size(), 20u);
  kill(children[5], SIGSEGV);
  EXPECT_TRUE(WaitForLog(*demo, "ended with signal 11")) << demo->LogTail(50);
  EXPECT_TRUE(WaitForLog(*demo, "runs again after it has died once")) << demo->LogTail(50);
  const std::vector<pid_t> later = ChildrenOf(demo->pid());
  children.insert(children.end(), later.begin(), later.end());
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(StillThere(children), IsEmpty());
}

TEST(DemoTest, ItsPageOpensInABrowserAndKillsANode) {
  const BrowserStandIn browser("opened");
  const std::unique_ptr<ChildProcess> demo =
      StartDemo("broken", {"--network", "loopback", "--overlay", WriteOverlay("broken.yaml", ""), "--batch", "8",
                           "--hidden", "32", "--rounds", "100000", "--open"});
  const DemoAddress page = browser.AwaitAddress();
  ASSERT_TRUE(WaitForLog(*demo, "round ")) << demo->LogTail(50);
  EXPECT_THAT(page.Post("kill", "n7"), HasSubstr("no node 'n7' runs here now"));
  EXPECT_THAT(page.Post("cut", "n1 n2"), HasSubstr("this one runs over loopback"));
  EXPECT_THAT(DemoAddress(page.port, "guessed").Post("kill", "n2"), HasSubstr("401"));
  EXPECT_THAT(page.Post("kill", "n2"), HasSubstr("killed node n2; it is started again"));
  EXPECT_TRUE(WaitForLog(*demo, "node n2 runs again after it has died once")) << demo->LogTail(50);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
}

TEST(DemoTest, WhoFailsAgainAndAgainEndsItAndIsNamed) {
  const std::unique_ptr<ChildProcess> demo = StartDemo(
      "hopeless", {"--network", "loopback", "--overlay", WriteOverlay("hopeless.yaml", ""), "--batch", "1000"});
  const std::vector<pid_t> children = WaitForChildren(demo->pid(), 8);
  ASSERT_EQ(children.size(), 8u);
  // Whoever gets this signal ends by itself, as far as the demo can see.
  for (int i = 0; i < 1000 && demo->running(); ++i) {
    for (const pid_t child : ChildrenOf(demo->pid())) kill(child, SIGSEGV);
    absl::SleepFor(absl::Milliseconds(20));
  }
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
  EXPECT_EQ(demo->failure(), "exit code 1");
  EXPECT_THAT(demo->LogTail(200), AllOf(HasSubstr("ended with signal 11"), HasSubstr("it is not started again"),
                                        HasSubstr("the end of the log of")));
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

  static size_t CountCutLinks(const Wan& wan) {
    const absl::StatusOr<WanStatus> status = WanClient(wan.directory + "/wan").Status();
    EXPECT_TRUE(status.ok()) << status.status();
    return std::count_if(status->links.begin(), status->links.end(),
                         [](const WanStatus::Link& link) { return link.is_cut; });
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
      StartOnWan("moving", {"--rounds", "30", "--redraw-interval", "0.5", "--json"});
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
      {"--rounds", "60", "--redraw-interval", "0.5", "--optimizer", "node-adam", "--least-accuracy", "0.5", "--json"});
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

TEST_F(DemoWanTest, ItsPageCutsALinkWhichHeals) {
  const BrowserStandIn browser("opened_on_wan");
  const std::unique_ptr<ChildProcess> demo = StartOnWan("severed", {"--rounds", "100000", "--open"});
  const DemoAddress page = browser.AwaitAddress();
  const Wan wan = AwaitWan(*demo);
  ASSERT_NE(wan.id, "") << demo->LogTail(50);
  EXPECT_THAT(page.Post("cut", "n1 n3"), HasSubstr("\"accepted\":false"));
  EXPECT_THAT(page.Post("traffic", "n2 n3"), HasSubstr("others take 0.7 of n2 – n3 for 10s"));
  EXPECT_THAT(page.Post("cut", "n1 n2"), HasSubstr("cut n1 – n2 for 10s"));
  EXPECT_EQ(CountCutLinks(wan), 2u);
  const absl::Time deadline = absl::Now() + kPatience;
  while (CountCutLinks(wan) > 0 && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(CountCutLinks(wan), 0u);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitUntilEnded(kPatience));
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
