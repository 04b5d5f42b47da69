// `banyan bench wan` and `banyan bench training` as a user runs them, on a small emulated WAN. No times: these are the
// machine's.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "posix/work_directory.h"
#include "wan/testing/testing_wan.h"
#include "wan/wan_client.h"
#include "wan/wan_processes.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(120);
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
constexpr char kOverlay[] =
    "nodes: [{name: n1}, {name: n2}, {name: n3}]\n"
    "links:\n"
    "  - {between: [n1, n2], mbps: [50, 30], delay_ms: 5}\n"
    "  - {between: [n2, n3], mbps: 40, delay_ms: 5}\n";

// Those of benchmarks that run or have left something behind.
std::set<std::string> BenchmarkDirectories() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
    if (entry.path().filename().string().starts_with("banyan-bench-wan")) found.insert(entry.path().string());
  }
  return found;
}

class WanBenchmarkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status possible = TryToEmulate();
    if (IsForbidden(possible)) GTEST_SKIP() << possible.message();
    absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
    ASSERT_TRUE(directory.ok()) << directory.status();
    directory_ = *std::move(directory);
    ASSERT_TRUE(directory_->Write("overlay.yaml", kOverlay).ok());
  }

  std::unique_ptr<ChildProcess> Start(std::vector<std::string> more) {
    more.insert(more.begin(), {"wan", directory_->File("overlay.yaml")});
    return StartBench(more);
  }

  std::unique_ptr<ChildProcess> StartBench(const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {std::filesystem::absolute("tools/banyan").string(), "bench"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
        {.name = "the benchmark", .arguments = arguments, .log_path = directory_->File("log"), .capture_output = true});
    return child.ok() ? *std::move(child) : nullptr;
  }

  const std::set<std::string> before_ = BenchmarkDirectories();
  std::unique_ptr<WorkDirectory> directory_;
};

TEST_F(WanBenchmarkTest, EveryContenderSumsOverTheLinks) {
  const std::unique_ptr<ChildProcess> bench =
      Start({"--model-size", "1MB", "--rounds", "2", "--warm-up", "1", "--peers", "gloo,star", "--json"});
  ASSERT_NE(bench, nullptr);
  ASSERT_TRUE(bench->WaitUntilEnded(kPatience));
  EXPECT_EQ(bench->failure(), "") << bench->LogTail(20);
  std::string text;
  for (const std::string& line : bench->TakeLines()) text += line;
  const YAML::Node json = YAML::Load(text);
  EXPECT_EQ(json["rounds"].size(), 2u) << text;
  EXPECT_GT(json["rounds"][0]["policy"].as<int>(), 0);
  ASSERT_EQ(json["contenders"].size(), 16u);
  for (const YAML::Node& contender : json["contenders"]) {
    SCOPED_TRACE(contender["name"].as<std::string>());
    ASSERT_TRUE(contender["rounds"]) << contender["failure"].as<std::string>("");
    EXPECT_EQ(contender["rounds"].size(), 2u);
    EXPECT_TRUE(contender["replicas_identical"].as<bool>());
    const std::string name = contender["name"].as<std::string>();
    const bool votes = name == "packed-votes" || name == "packed-majority";
    EXPECT_LE(contender["bound_ratio"].as<double>(), votes ? 32 : 1.05);
    ASSERT_EQ(contender["links"].size(), 4u);
    // Something of each megabyte crosses every link of a line, in both directions. Votes are a bit and more for each
    // float, and nothing near to it.
    const int64_t least = votes ? 1'000'000 / 32 : 1'000'000;
    for (const YAML::Node& link : contender["links"]) {
      EXPECT_GT(link["bytes"].as<int64_t>(), least);
      if (votes) {
        EXPECT_LT(link["bytes"].as<int64_t>(), 1'000'000) << "floats were sent";
      }
    }
  }
  EXPECT_EQ(BenchmarkDirectories(), before_);
}

TEST_F(WanBenchmarkTest, CtrlCLeavesNothingBehind) {
  const std::unique_ptr<ChildProcess> bench = Start({"--model-size", "20MB", "--rounds", "1000", "--only", "star"});
  ASSERT_NE(bench, nullptr);
  std::string id;
  const absl::Time deadline = absl::Now() + kPatience;
  while (absl::Now() < deadline && (id.empty() || FindWanProcesses(id).size() < 7)) {
    absl::SleepFor(kPollInterval);
    for (const std::string& path : BenchmarkDirectories()) {
      if (before_.contains(path) || !id.empty()) continue;
      const absl::StatusOr<WanStatus> status = WanClient(path + "/wan").Status();
      if (status.ok()) id = status->id;
    }
  }
  ASSERT_FALSE(id.empty()) << bench->LogTail(20);
  bench->Signal(SIGINT);
  ASSERT_TRUE(bench->WaitUntilEnded(kPatience));
  EXPECT_EQ(bench->failure(), "exit code 1");
  EXPECT_THAT(bench->LogTail(5), ::testing::HasSubstr("interrupted"));
  EXPECT_TRUE(FindWanProcesses(id).empty());
  EXPECT_EQ(BenchmarkDirectories(), before_);
}

TEST_F(WanBenchmarkTest, AContenderThatTakesTooLongStopsNobody) {
  const std::unique_ptr<ChildProcess> bench =
      Start({"--model-size", "12MB", "--only", "star-median,gloo-ring", "--limit", "1", "--json"});
  ASSERT_NE(bench, nullptr);
  ASSERT_TRUE(bench->WaitUntilEnded(kPatience));
  EXPECT_EQ(bench->failure(), "exit code 1");
  std::string text;
  for (const std::string& line : bench->TakeLines()) text += line;
  const YAML::Node contenders = YAML::Load(text)["contenders"];
  ASSERT_EQ(contenders.size(), 2u);
  for (const YAML::Node& contender : contenders) {
    EXPECT_THAT(contender["failure"].as<std::string>(""), ::testing::HasSubstr("no round within 1s"));
  }
}

TEST_F(WanBenchmarkTest, TrainingIsMeasuredByEachMethod) {
  for (const std::string method : {"attach", "diloco", "streaming"}) {
    SCOPED_TRACE(method);
    const std::unique_ptr<ChildProcess> bench =
        StartBench({"training", "--method", method, "--rates", "50", "--steps-per-sync", "8", "--model-size", "1MB",
                    "--step-seconds", "20ms", "--codec", "fp16", "--syncs", "2", "--json"});
    ASSERT_NE(bench, nullptr);
    ASSERT_TRUE(bench->WaitUntilEnded(kPatience));
    EXPECT_EQ(bench->failure(), "") << bench->LogTail(20);
    std::string text;
    for (const std::string& line : bench->TakeLines()) text += line;
    const YAML::Node cells = YAML::Load(text);
    ASSERT_EQ(cells.size(), 1u) << text;
    EXPECT_EQ(cells[0]["steps_per_sync"].as<int>(), method == "attach" ? 1 : 8);
    EXPECT_GT(cells[0]["measured_utilisation"].as<double>(), 0);
    EXPECT_LE(cells[0]["measured_utilisation"].as<double>(), 1.001) << "computes no faster than it is told";
    EXPECT_GT(cells[0]["predicted_utilisation"].as<double>(), 0);
  }
}

}  // namespace
}  // namespace banyan
