// `banyan chaos` beside a running demo, with all processes of both. What needs an emulated WAN is skipped where the
// system forbids one.

#include <signal.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "examples/fashion_mnist/running_demo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "wan/testing/testing_wan.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kEndless[] = "100000";

// Three nodes, small enough for many rounds in a second.
std::vector<std::string> SmallDemo(const std::string& name, const std::string& network, const std::string& rate,
                                   const std::string& rounds) {
  return {"--network",         network,
          "--rounds",          rounds,
          "--batch",           "8",
          "--hidden",          "32",
          "--overlay",         WriteOverlay(name + ".yaml", rate),
          "--redraw-interval", "0"};
}

// With zero bytes between its words.
std::string CommandLineOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/cmdline"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class ChaosTest : public ::testing::Test {
 protected:
  // Both run; the demo is the only one on this machine that is named so.
  void StartBoth(std::vector<std::string> demo, std::vector<std::string> chaos) {
    demo_ = StartDemo("demo", std::move(demo));
    ASSERT_TRUE(WaitForLog(*demo_, "round ")) << demo_->LogTail(50);
    const std::string directory = DirectoryOf(*demo_);
    ASSERT_NE(directory, "");
    chaos.insert(chaos.begin(), {"chaos", directory, "--json"});
    chaos_ = StartBanyan("chaos", std::move(chaos));
  }

  void AwaitChaos() {
    ASSERT_TRUE(chaos_->WaitUntilEnded(kDemoPatience));
    const std::vector<std::string> lines = chaos_->TakeLines();
    ASSERT_THAT(lines, SizeIs(1)) << chaos_->LogTail(50);
    outcome_ = YAML::Load(lines[0]);
  }

  void EndDemo() {
    demo_->Signal(SIGINT);
    ASSERT_TRUE(demo_->WaitUntilEnded(kDemoPatience));
  }

  // It is in the names of the files that its children are given.
  static std::string DirectoryOf(const ChildProcess& demo) {
    for (const pid_t child : ChildrenOf(demo.pid())) {
      const std::string line = CommandLineOf(child);
      const size_t start = line.find("/tmp/banyan-demo-");
      if (start != std::string::npos) return line.substr(start, line.find('/', start + 5) - start);
    }
    return "";
  }

  YAML::Node CostOf(const std::string& kind) const {
    for (const YAML::Node& cost : outcome_["costs"]) {
      if (cost["kind"].as<std::string>() == kind) return cost;
    }
    return {};
  }

  size_t FaultsOf(const std::string& kind) const {
    const YAML::Node cost = CostOf(kind);
    return cost["faults"] ? cost["faults"].as<size_t>() : 0;
  }

  // Survivors had results after every fault of the kind, and whoever was hit contributed again.
  void ExpectSurvived(const std::string& kind) const {
    const YAML::Node cost = CostOf(kind);
    ASSERT_TRUE(cost["faults"]) << kind;
    EXPECT_GT(cost["without_result"]["count"].as<int>(), 0) << cost;
    EXPECT_EQ(cost["stalled"].as<int>(), 0) << cost;
    EXPECT_EQ(cost["not_back"].as<int>(), 0) << cost;
  }

  std::unique_ptr<ChildProcess> demo_;
  std::unique_ptr<ChildProcess> chaos_;
  YAML::Node outcome_;
};

// Stops are shorter than the silence that the job bears.
TEST_F(ChaosTest, AJobGoesOnAfterStopsAndTellsWhatTheyCost) {
  StartBoth(SmallDemo("stops", "loopback", "", kEndless),
            {"--stop-every", "2s", "--stop-for", "700ms", "--for", "12s", "--undisturbed-for", "3s"});
  AwaitChaos();
  EXPECT_EQ(chaos_->failure(), "") << chaos_->LogTail(50);
  EXPECT_EQ(outcome_["end"].as<std::string>(), "the time is over");
  EXPECT_GE(FaultsOf("stop_node"), 3u);
  ExpectSurvived("stop_node");
  EXPECT_GT(outcome_["rate_part"].as<double>(), 0);
  EXPECT_THAT(chaos_->LogTail(50), AllOf(HasSubstr(": stops node n"), HasSubstr(": lets node n")));
  EXPECT_TRUE(demo_->running());
  EndDemo();
}

TEST_F(ChaosTest, KilledNodesAreStartedAgain) {
  StartBoth(SmallDemo("kills", "loopback", "", kEndless),
            {"--kill-every", "4s", "--worker-every", "7s", "--scheduler-every", "9s", "--for", "20s",
             "--undisturbed-for", "3s"});
  AwaitChaos();
  EXPECT_THAT(chaos_->LogTail(50), HasSubstr(": kills node n"));
  EXPECT_TRUE(WaitForLog(*demo_, "ended with signal 9 (Killed)")) << demo_->LogTail(50);
  EXPECT_TRUE(WaitForLog(*demo_, "runs again after it has died")) << demo_->LogTail(50);
  EXPECT_EQ(chaos_->failure(), "") << chaos_->LogTail(50);
  EXPECT_GE(FaultsOf("kill_node"), 3u);
  for (const char* kind : {"kill_node", "kill_worker", "kill_scheduler"}) ExpectSurvived(kind);
  EXPECT_TRUE(demo_->running());
  EndDemo();
}

TEST_F(ChaosTest, ReplicasAreIdenticalWhateverHasDied) {
  StartBoth(SmallDemo("survivors", "loopback", "", "1500"), {"--kill-every", "4s", "--worker-every", "9s"});
  AwaitChaos();
  EXPECT_EQ(chaos_->failure(), "") << chaos_->LogTail(50);
  EXPECT_EQ(outcome_["end"].as<std::string>(), "the training is over");
  ASSERT_TRUE(demo_->WaitUntilEnded(kDemoPatience));
  EXPECT_EQ(demo_->failure(), "") << demo_->LogTail(50);
  EXPECT_THAT(demo_->TakeLines(), Contains(HasSubstr("replicas=identical")));
}

TEST_F(ChaosTest, CtrlCLetsStoppedNodesGoOn) {
  StartBoth(SmallDemo("undone", "loopback", "", kEndless),
            {"--stop-every", "1s", "--stop-for", "10m", "--undisturbed-for", "100ms"});
  ASSERT_TRUE(WaitForLog(*chaos_, ": stops node n")) << chaos_->LogTail(50);
  chaos_->Signal(SIGINT);
  AwaitChaos();
  EXPECT_EQ(chaos_->failure(), "");
  EXPECT_EQ(outcome_["end"].as<std::string>(), "interrupted");
  EXPECT_THAT(chaos_->LogTail(50), HasSubstr(": lets node n"));
  // A stopped node would not let it end in time.
  EndDemo();
  EXPECT_THAT(demo_->LogTail(1), HasSubstr("interrupted"));
}

TEST_F(ChaosTest, CutLinksAreHealed) {
  const absl::Status possible = TryToEmulate();
  if (IsForbidden(possible)) GTEST_SKIP() << possible.message();
  ASSERT_TRUE(possible.ok()) << possible;
  StartBoth(SmallDemo("cuts", "wan", ", mbps: 100, delay_ms: 1", kEndless),
            {"--cut-every", "3s", "--cut-for", "800ms", "--for", "15s", "--undisturbed-for", "3s"});
  AwaitChaos();
  EXPECT_EQ(chaos_->failure(), "") << chaos_->LogTail(50);
  EXPECT_GE(FaultsOf("cut_link"), 3u);
  ExpectSurvived("cut_link");
  EXPECT_THAT(chaos_->LogTail(50), AllOf(HasSubstr(": cuts n"), HasSubstr(": heals n")));
  EXPECT_TRUE(demo_->running());
  EndDemo();
}

TEST_F(ChaosTest, AScheduleIsFollowedWhileReplicasTrainByThemselves) {
  const absl::Status possible = TryToEmulate();
  if (IsForbidden(possible)) GTEST_SKIP() << possible.message();
  ASSERT_TRUE(possible.ok()) << possible;
  const std::string schedule = absl::StrCat(::testing::TempDir(), "/faults.yaml");
  std::ofstream(schedule) << "faults:\n"
                             "  - {at: 1s, fault: slow_link, sites: [n1, n2], rate: 20Mbit/s, for: 2s}\n"
                             "  - {at: 2s, fault: kill_node, sites: [n3]}\n"
                             "  - {at: 6s, fault: partition, sites: [n1], for: 1s}\n"
                             "  - {at: 10s, fault: fill_disk, for: 1s}\n";
  std::vector<std::string> demo = SmallDemo("schedule", "wan", ", mbps: 100, delay_ms: 1", "400");
  demo.insert(demo.end(), {"--local-steps", "5"});
  StartBoth(std::move(demo), {"--schedule", schedule, "--undisturbed-for", "3s"});
  AwaitChaos();
  EXPECT_EQ(chaos_->failure(), "") << chaos_->LogTail(50);
  for (const char* kind : {"slow_link", "kill_node", "partition", "fill_disk"}) {
    EXPECT_EQ(FaultsOf(kind), 1u) << kind << chaos_->LogTail(50);
  }
  EXPECT_THAT(chaos_->LogTail(50),
              AllOf(HasSubstr(": slows n1 - n2 down for 2s"), HasSubstr(": kills node n3"),
                    HasSubstr(": cuts n1 off from all others for 1s"), HasSubstr(": gives n1 - n2 its rate again")));
  ExpectSurvived("kill_node");
  EXPECT_GT(outcome_["participation"].as<double>(), 0.5);
  EXPECT_TRUE(outcome_["replicas_are_equal"].as<bool>());
  ASSERT_TRUE(demo_->WaitUntilEnded(kDemoPatience));
  EXPECT_EQ(demo_->failure(), "") << demo_->LogTail(50);
  EXPECT_THAT(demo_->TakeLines(), Contains(HasSubstr("replicas=identical")));
}

}  // namespace
}  // namespace banyan
