// Jobs of real processes: what workers get is the exact sum or mean, and the same everywhere.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr int kRounds = 20;

// The links of a sample overlay, whose nodes are n1 to n9.
std::string Internet2Links() {
  std::ifstream file("deploy/topologies/internet2.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().substr(text.str().find("\nlinks:") + 1);
}

TEST(JobTest, NineNodesGetExactMeans) {
  JobSpec spec;
  spec.nodes = 9;
  spec.links = Internet2Links();
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions),
                        {{"bias", 1}, {"conv", 1000}, {"fc", 200001}, {"embedding", IsSanitized() ? 300000 : 1000000}});
  training.Init();
  for (int round = 1; round <= kRounds; ++round) {
    SCOPED_TRACE(round);
    training.PushPullRound();
    if (HasFatalFailure()) return;
  }
  const std::string status = job.StatusJson();
  EXPECT_THAT(status, HasSubstr("\"state\":\"running\""));
  EXPECT_THAT(status, HasSubstr("\"key\":\"fc\",\"elements\":200001"));
  job.StopAll();
}

TEST(JobTest, TwoWorkersOfANodeAreSummedFirst) {
  JobSpec spec;
  spec.workers = 2;
  spec.more = "aggregation: {op: sum}\nchunks: {max_elements: 1000}\n";
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 1}, {"b", 12345}});
  training.Init();
  for (int round = 1; round <= kRounds; ++round) {
    SCOPED_TRACE(round);
    training.PushThenPullRound(/*is_sum=*/true);
    if (HasFatalFailure()) return;
  }
  job.StopAll();
}

TEST(JobTest, TheMeanIsThatOfAllWorkers) {
  JobSpec spec;
  spec.workers = 3;
  spec.nodes = 2;
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 100000}});
  training.Init();
  for (int round = 1; round <= kRounds; ++round) {
    training.PushThenPullRound(/*is_sum=*/false);
    if (HasFatalFailure()) return;
  }
  job.StopAll();
}

TEST(JobTest, BroadcastRoundsMixWithPushedOnes) {
  JobSpec spec;
  spec.workers = 2;
  spec.more = "chunks: {max_elements: 5000}\npolicy: {lease_seconds: 60}\n";
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 3}, {"b", 54321}});
  training.Init();
  for (int i = 0; i < 5; ++i) {
    training.BroadcastRound();
    if (HasFatalFailure()) return;
    training.PushPullRound();
    if (HasFatalFailure()) return;
  }
  job.StopAll();
}

TEST(JobTest, ABarrierWaitsForEveryWorker) {
  JobSpec spec;
  spec.workers = 2;
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  for (int barrier = 0; barrier < 5; ++barrier) {
    std::vector<Ticket> tickets;
    for (size_t worker = 1; worker < sessions.size(); ++worker) tickets.push_back(sessions[worker]->Barrier());
    // The last one has all that is needed to be answered at once, if the barrier did not wait.
    ASSERT_TRUE(sessions[1]->ReportLoss(barrier, 0.5).Wait(kPatience).ok());
    for (const Ticket& ticket : tickets) EXPECT_FALSE(ticket.done());
    tickets.push_back(sessions[0]->Barrier());
    for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kPatience), absl::OkStatus());
  }
  job.StopAll();
}

TEST(JobTest, ANodeInsideTheTrainingProcessTakesPart) {
  JobFixture job(JobSpec{});
  job.StartScheduler();
  job.StartNode(0);
  job.StartNode(1);
  LocalNodeOptions options;
  options.name = "n3";
  options.scheduler = job.scheduler_address();
  std::unique_ptr<LocalNode> node = Require(LocalNode::Start(options), "a node in this process");
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(job.Open(0));
  sessions.push_back(job.Open(1));
  sessions.push_back(Require(node->OpenSession(0, kPatience), "a session in this process"));
  TestTraining training(Addresses(sessions), {{"a", 1}, {"b", 100000}});
  training.Init();
  for (int round = 1; round <= kRounds; ++round) {
    training.PushPullRound();
    if (HasFatalFailure()) return;
  }
  sessions.clear();
  EXPECT_EQ(node->Stop(), absl::OkStatus());
  job.StopAll();
}

// Writes the files of low-bit rounds that begin after two steps. Returns the section that names them.
std::string PrecisionSection() {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/low_bit_profile.yaml")
      << "schema: 1\nprofile: p\nprovenance: {source: a test, made_by: hand, evidence: none}\nmode: binary\n"
         "guard: forced\nadmission: {warmup_steps: 2}\ndetector: {slack: 0.1, threshold: 1, smoothing: 1}\n"
         "recovery: {cooldown_steps: 2, readmission_steps: 1}\n";
  std::ofstream(folder + "/low_bit_binding.yaml")
      << "schema: 1\nbinding: b\nprovenance: {source: a test, made_by: hand, evidence: none}\ntensors:\n"
         "- {name: w, elements: 5000, role: encoder, route: low-bit, family: binary, reason: a matrix}\n";
  return "precision: {profile: " + folder + "/low_bit_profile.yaml, binding: " + folder + "/low_bit_binding.yaml}\n";
}

TEST(JobTest, RoundsGoLowBitAfterTheWarmUpAndFallBack) {
  JobSpec spec;
  spec.more = "policy: {lease_seconds: 60}\n" + PrecisionSection();
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  const std::vector<float> initial(5000);
  std::vector<Ticket> tickets;
  for (const auto& session : sessions) tickets.push_back(session->Init("w", initial));
  for (Ticket& ticket : tickets) ASSERT_EQ(ticket.Wait(kPatience), absl::OkStatus());
  // Two workers push 1 and one pushes -4 everywhere: the mean is -2/3, and the votes say the mean scale of 2.
  std::vector<bool> is_low_bit;
  for (uint64_t step = 1; step <= 12; ++step) {
    tickets.clear();
    std::vector<std::vector<float>> results(sessions.size(), initial);
    for (const auto& session : sessions) {
      tickets.push_back(
          session->ReportHealth({.step = step, .loss = step == 8 ? 9.0 : 1.0 / static_cast<double>(step)}));
    }
    for (Ticket& ticket : tickets) ASSERT_EQ(ticket.Wait(kPatience), absl::OkStatus());
    tickets.clear();
    for (size_t worker = 0; worker < sessions.size(); ++worker) {
      const std::vector<float> gradient(5000, worker == 2 ? -4.0f : 1.0f);
      tickets.push_back(sessions[worker]->PushPull("w", gradient, absl::MakeSpan(results[worker])));
    }
    for (Ticket& ticket : tickets) ASSERT_EQ(ticket.Wait(kPatience), absl::OkStatus());
    is_low_bit.push_back(results[0][0] == 2.0f);
    for (const std::vector<float>& result : results) {
      EXPECT_EQ(result, results[0]);
      EXPECT_NEAR(result[4999], is_low_bit.back() ? 2.0f : -2.0f / 3, 1e-6);
    }
  }
  EXPECT_FALSE(is_low_bit[0]);
  EXPECT_TRUE(is_low_bit[5]) << "warmed up after step 2";
  EXPECT_FALSE(is_low_bit[9]) << "vetoed by the loss of step 8";
  const std::string status = job.StatusJson();
  EXPECT_THAT(status,
              HasSubstr(R"("precision":{"profile":"p","binding":"b","state":"decided","admitted":["encoder"])"));
  EXPECT_THAT(status, HasSubstr(R"("vetoes":1)"));
  EXPECT_THAT(status, HasSubstr(R"("violations":0)"));
  job.StopAll();
}

}  // namespace
}  // namespace banyan
