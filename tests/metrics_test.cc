// The metrics that real daemons serve while they train.
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/http_get.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;

constexpr int kRounds = 10;

// The values by name and labels, as the page writes them.
std::map<std::string, double> Parse(const std::string& page) {
  std::map<std::string, double> values;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    double value = 0;
    if (absl::StartsWith(line, "banyan_") && absl::SimpleAtod(line.substr(space + 1), &value)) {
      values[line.substr(0, space)] = value;
    }
  }
  return values;
}

// What the page says once this value is at least so large; what it says in the end otherwise.
std::map<std::string, double> WaitFor(int port, const std::string& series, double value) {
  const absl::Time deadline = absl::Now() + kPatience;
  std::map<std::string, double> values = Parse(HttpGet(port, "/metrics"));
  while ((values.count(series) == 0 || values[series] < value) && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(50));
    values = Parse(HttpGet(port, "/metrics"));
  }
  EXPECT_THAT(values[series], Ge(value)) << series;
  return values;
}

// Trains until the page has this value, above 0; what it says then.
std::map<std::string, double> TrainUntilSeen(TestTraining& training, int port, const std::string& series) {
  std::map<std::string, double> values;
  const absl::Time deadline = absl::Now() + kPatience;
  while (values.count(series) == 0 && absl::Now() < deadline && !::testing::Test::HasFatalFailure()) {
    training.PushPullRound();
    values = Parse(HttpGet(port, "/metrics"));
  }
  EXPECT_THAT(values[series], Gt(0)) << series;
  return values;
}

TEST(MetricsTest, DaemonsTellWhatTheyDo) {
  JobSpec spec;
  spec.http = "127.0.0.1:0";
  spec.links = "links:\n  - {between: [n1, n2], mbps: [38, 54], delay_ms: 15}\n  - {between: [n2, n3], mbps: 20}\n";
  // Beliefs stay as they are.
  spec.more = "awareness: {enabled: false}\n";
  JobFixture job(spec);
  job.StartScheduler();
  for (size_t node = 0; node < job.nodes(); ++node) job.StartNode(node, {"--http", "127.0.0.1:0"});
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"fc", 100000}});
  training.Init();
  for (int round = 1; round <= kRounds; ++round) {
    training.PushPullRound();
    if (HasFatalFailure()) return;
  }

  const int scheduler = job.MetricsPortOf("scheduler");
  std::map<std::string, double> values =
      WaitFor(scheduler, "banyan_scheduler_closed_rounds_total{key=\"fc\"}", kRounds);
  EXPECT_EQ(values["banyan_scheduler_members{state=\"joined\"}"], 3);
  EXPECT_EQ(values["banyan_scheduler_members{state=\"silent\"}"], 0);
  EXPECT_EQ(values["banyan_scheduler_term"], 1);
  EXPECT_THAT(values["banyan_scheduler_policy_version"], Ge(1));
  EXPECT_EQ(values["banyan_scheduler_link_rate_bits_per_second{from=\"n1\",to=\"n2\",source=\"believed\"}"], 38e6);
  EXPECT_EQ(values["banyan_scheduler_link_delay_seconds{from=\"n2\",to=\"n1\",source=\"believed\"}"], 0.015);
  EXPECT_THAT(values["banyan_scheduler_plan_rate_bits_per_second"], Gt(1e6));
  EXPECT_EQ(values.count("banyan_scheduler_link_age_seconds{from=\"n1\",to=\"n2\",source=\"believed\"}"), 0u);

  const int node = job.MetricsPortOf("n1");
  values = WaitFor(node, "banyan_node_rounds_done_total{key=\"fc\"}", kRounds);
  EXPECT_EQ(values["banyan_node_workers"], 1);
  EXPECT_THAT(values["banyan_node_last_sync_seconds"], Gt(0));
  // n1 has one neighbour; each round sends it sums or results of all elements.
  EXPECT_THAT(values["banyan_node_link_sent_bytes_total{to=\"n2\"}"], Ge(kRounds * 100000 * 4));
  EXPECT_EQ(values.count("banyan_node_memory_bytes{what=\"worker segments\"}"), 1u);
  const std::string page = HttpGet(node, "/metrics");
  EXPECT_THAT(page, HasSubstr("# TYPE banyan_node_link_sent_bytes_total counter\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE banyan_node_memory_bytes gauge\n"));
  job.StopAll();
}

TEST(MetricsTest, WhatTrainingMeasuresIsSeen) {
  JobSpec spec;
  spec.nodes = 2;
  spec.http = "127.0.0.1:0";
  JobFixture job(spec);
  job.StartScheduler();
  for (size_t node = 0; node < job.nodes(); ++node) job.StartNode(node, {"--http", "127.0.0.1:0"});
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"fc", 300000}});
  training.Init();
  const std::map<std::string, double> at_node = TrainUntilSeen(
      training, job.MetricsPortOf("n1"), "banyan_node_link_rate_bits_per_second{to=\"n2\",source=\"primary\"}");
  EXPECT_EQ(at_node.count("banyan_node_clock_uncertainty_seconds{to=\"n2\"}"), 1u);
  // The node's first sample may be of a chunk that a busy machine held up: a bound below what the scheduler believes,
  // which it keeps believing until further rounds bring a better one.
  const std::map<std::string, double> at_scheduler =
      TrainUntilSeen(training, job.MetricsPortOf("scheduler"),
                     "banyan_scheduler_link_rate_bits_per_second{from=\"n1\",to=\"n2\",source=\"primary\"}");
  EXPECT_EQ(at_scheduler.count("banyan_scheduler_link_age_seconds{from=\"n1\",to=\"n2\",source=\"primary\"}"), 1u);
  job.StopAll();
}

TEST(MetricsTest, APortThatIsTakenEndsTheNode) {
  JobSpec spec;
  spec.http = "127.0.0.1:0";
  JobFixture job(spec);
  job.StartScheduler();
  const int taken = job.MetricsPortOf("scheduler");
  job.StartNode(0, {"--http", absl::StrCat("127.0.0.1:", taken)});
  EXPECT_TRUE(job.node(0).WaitUntilEnded(kPatience));
  EXPECT_EQ(job.node(0).failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("n1"), HasSubstr("expected to serve HTTP at 127.0.0.1:"));
  job.StopAll();
}

}  // namespace
}  // namespace banyan
