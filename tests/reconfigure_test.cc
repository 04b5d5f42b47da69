// A job of real daemons whose overlay changes while it trains: replicas stay identical and no round is lost.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRounds = 200;
constexpr absl::Duration kChangeInterval = absl::Milliseconds(500);
constexpr int kLeastChanges = 15;

// What one file after the other asks for.
const std::vector<std::string>& Overlays() {
  static const auto& overlays = *new std::vector<std::string>{
      "topology: {planner: fapt, roots: all}\nmultipath: {enabled: true}\n",
      "topology: {planner: star}\nmultipath: {enabled: false}\n",
      "topology: {planner: bkt, k: 2}\nmultipath: {enabled: true}\n",
      "topology: {planner: fapt, roots: 2}\nmultipath: {enabled: false}\nchunks: {max_elements: 2000}\n",
      "topology: {planner: mst}\nmultipath: {enabled: true, primary_busy_bound: 0}\nawareness: {enabled: false}\n",
  };
  return overlays;
}

class ReconfigureTest : public ::testing::Test {
 protected:
  ReconfigureTest() : job_(Spec()) {}

  static JobSpec Spec() {
    JobSpec spec;
    spec.nodes = 9;
    spec.more = Overlays()[0];
    return spec;
  }

  // Runs `banyan reconfigure` and returns its exit status as ChildProcess::failure() tells it.
  std::string Reconfigure(const std::string& more) {
    const std::string file = job_.WriteOverlay("next.yaml", more);
    const std::unique_ptr<ChildProcess> command =
        job_.StartCommand("reconfigure", {"reconfigure", file, "--timeout", "60"});
    EXPECT_TRUE(command->WaitUntilEnded(kPatience));
    return command->failure();
  }

  JobFixture job_;
};

TEST_F(ReconfigureTest, TrainingGoesOnThroughEveryChange) {
  job_.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job_.OpenAll();
  TestTraining training(Addresses(sessions), {{"bias", 1}, {"conv", 1000}, {"fc", 50001}});
  training.Init();
  int changes = 0;
  absl::Time next_change = absl::Now();
  for (int round = 1; round <= kRounds || changes < kLeastChanges; ++round) {
    SCOPED_TRACE(round);
    // A change while a round is open.
    std::vector<Ticket> tickets = training.StartRound();
    if (absl::Now() >= next_change) {
      ++changes;
      EXPECT_EQ(Reconfigure(Overlays()[static_cast<size_t>(changes) % Overlays().size()]), "")
          << job_.LogOf("reconfigure");
      next_change = absl::Now() + kChangeInterval;
    }
    // All members have the same bits, and the exact mean of all of them.
    training.FinishRound(std::move(tickets));
    if (HasFatalFailure()) return;
  }
  const YAML::Node status = YAML::Load(job_.StatusJson());
  EXPECT_EQ(status["state"].as<std::string>(), "running");
  EXPECT_GE(status["policy"].as<int>(), changes);
  job_.StopAll();
}

TEST_F(ReconfigureTest, WhatCannotChangeChangesNothing) {
  job_.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job_.OpenAll();
  TestTraining training(Addresses(sessions), {{"fc", 5000}});
  training.Init();
  // A mistake that the file shows, and one that only the scheduler knows of.
  EXPECT_EQ(Reconfigure("topology: {planner: fatp}\n"), "exit code 1");
  EXPECT_THAT(job_.LogOf("reconfigure"), HasSubstr("next.yaml:"));
  EXPECT_EQ(Reconfigure(absl::StrCat(Overlays()[1], "aggregation: {op: sum}\n")), "exit code 1");
  EXPECT_THAT(job_.LogOf("reconfigure"), AllOf(HasSubstr("nothing has changed"), HasSubstr("aggregation")));
  const YAML::Node status = YAML::Load(job_.StatusJson());
  EXPECT_EQ(status["planner"].as<std::string>(), "fapt");
  training.PushPullRound();
  job_.StopAll();
}

}  // namespace
}  // namespace banyan
