// Rounds of real processes that are traced.
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "proto/tracing/round_records_wire.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"
#include "tracing/clock_alignment.h"
#include "tracing/testing/trace_schema.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kRounds = 6;

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// All processes of one machine have one clock: what an alignment changes is its error.
void ExpectOneClock(const std::map<NodeId, RoundRecords>& records) {
  const ClockAlignment clocks(records);
  for (const auto& [node, of_node] : records) {
    ASSERT_TRUE(clocks.Knows(node));
    const Timestamp at = of_node.moments.front().at;
    const absl::Duration error = absl::AbsDuration(clocks.ToCommon(node, at) - at);
    EXPECT_LE(error, clocks.uncertainty() + absl::Microseconds(1)) << "node " << node.value();
  }
}

TEST(TraceJobTest, NodesNoteRoundsAndTheCommandPutsThemTogether) {
  JobSpec spec;
  spec.stays = false;
  JobFixture job(spec);
  const auto records_of = [&](size_t node) { return job.SocketPathOf(node) + ".rounds"; };
  const std::string json = job.SocketPathOf(0) + ".json";
  std::vector<std::string> command = {"trace", json, "--overlay", job.OverlayPath()};
  job.StartScheduler();
  for (size_t node = 0; node < job.nodes(); ++node) {
    job.StartNode(node, {"--trace", records_of(node), "--trace-from", "2", "--trace-rounds", "3"});
    command.insert(command.end(), {"--records", records_of(node)});
  }
  {
    const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
    TestTraining training(Addresses(sessions), {{"w", 300'000}, {"b", 1000}});
    training.Init();
    for (int round = 1; round <= kRounds; ++round) training.PushPullRound();
  }
  std::map<NodeId, RoundRecords> records;
  for (size_t node = 0; node < job.nodes(); ++node) {
    ASSERT_TRUE(job.node(node).WaitUntilEnded(kPatience)) << job.LogOf(JobFixture::NameOf(node));
    const absl::StatusOr<NodeRecords> of_node = DecodeRecords(ReadFile(records_of(node)));
    ASSERT_TRUE(of_node.ok()) << of_node.status() << job.LogOf(JobFixture::NameOf(node));
    EXPECT_EQ(of_node->name, JobFixture::NameOf(node));
    records[of_node->node] = of_node->records;
  }
  ExpectOneClock(records);
  const std::unique_ptr<ChildProcess> trace = job.StartCommand("trace", command);
  ASSERT_TRUE(trace->WaitUntilEnded(kPatience));
  const std::string log = job.LogOf("trace");
  EXPECT_EQ(trace->failure(), "") << log;
  for (const int round : {2, 3, 4}) EXPECT_THAT(log, HasSubstr(absl::StrCat("round ", round, " took ")));
  for (const int round : {1, 5}) EXPECT_THAT(log, Not(HasSubstr(absl::StrCat("round ", round, " took "))));
  EXPECT_THAT(TraceFaults(ReadFile(json)), IsEmpty());
}

TEST(TraceJobTest, ARunningJobIsAskedForItsNextRounds) {
  JobFixture job(JobSpec{});
  const std::string json = job.SocketPathOf(0) + ".json";
  job.StartScheduler();
  // One has no room for another's rounds.
  job.StartNode(0, {"--trace", job.SocketPathOf(0) + ".rounds"});
  for (size_t node = 1; node < job.nodes(); ++node) job.StartNode(node);
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 300'000}, {"b", 1000}});
  training.Init();
  training.PushPullRound();
  const std::unique_ptr<ChildProcess> trace =
      job.StartCommand("trace", {"trace", json, "--rounds", "2", "--scheduler", job.scheduler_address()});
  while (trace->running()) training.PushPullRound();
  const std::string log = job.LogOf("trace");
  EXPECT_EQ(trace->failure(), "") << log;
  EXPECT_THAT(log, HasSubstr(absl::StrCat("without ", JobFixture::NameOf(0), ": ", JobFixture::NameOf(0),
                                          " notes rounds for its --trace already")));
  EXPECT_THAT(log, HasSubstr(" took "));
  EXPECT_THAT(TraceFaults(ReadFile(json)), IsEmpty());
}

}  // namespace
}  // namespace banyan
