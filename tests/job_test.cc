// Jobs of real processes: what workers get is the exact sum or mean, and the same everywhere.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// Writes the files of low-bit rounds that begin after two steps, and of vetoes that outlast a test. Returns the section
// that names them.
std::string PrecisionSection() {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/low_bit_profile.yaml")
      << "schema: 1\nprofile: p\nprovenance: {source: a test, made_by: hand, evidence: none}\nmode: binary\n"
         "guard: forced\nadmission: {warmup_steps: 2}\ndetector: {slack: 0.1, threshold: 1, smoothing: 1}\n"
         "recovery: {cooldown_steps: 1000000, readmission_steps: 1}\n";
  std::ofstream(folder + "/low_bit_binding.yaml")
      << "schema: 1\nbinding: b\nprovenance: {source: a test, made_by: hand, evidence: none}\ntensors:\n"
         "- {name: w, elements: 5000, role: encoder, route: low-bit, family: binary, reason: a matrix}\n";
  return "precision: {profile: " + folder + "/low_bit_profile.yaml, binding: " + folder + "/low_bit_binding.yaml}\n";
}

// A job of three workers that train `w` under PrecisionSection(), which cools down for longer than a test lasts.
class LowBitJob {
 public:
  LowBitJob() : job_({.more = "policy: {lease_seconds: 60}\n" + PrecisionSection()}) {
    job_.StartAll();
    sessions_ = job_.OpenAll();
    std::vector<Ticket> tickets;
    for (const auto& session : sessions_) tickets.push_back(session->Init("w", initial_));
    WaitForAll(tickets);
  }

  // Trains a step whose loss is this. Returns whether its round was low-bit.
  bool TrainStep(double loss) {
    ++step_;
    std::vector<Ticket> tickets;
    for (const auto& session : sessions_) tickets.push_back(session->ReportHealth({.step = step_, .loss = loss}));
    WaitForAll(tickets);
    // Two workers push 1 and one pushes -4 everywhere: the mean is -2/3, and the votes say the mean scale of 2.
    std::vector<std::vector<float>> results(sessions_.size(), initial_);
    for (size_t worker = 0; worker < sessions_.size(); ++worker) {
      const std::vector<float> gradient(initial_.size(), worker == 2 ? -4.0f : 1.0f);
      tickets.push_back(sessions_[worker]->PushPull("w", gradient, absl::MakeSpan(results[worker])));
    }
    WaitForAll(tickets);
    const bool is_low_bit = results[0].front() == 2.0f;
    for (const std::vector<float>& result : results) {
      EXPECT_EQ(result, results[0]);
      EXPECT_NEAR(result.back(), is_low_bit ? 2.0f : -2.0f / 3, 1e-6);
    }
    return is_low_bit;
  }

  // Trains until `is_enough`, told whether the last round was low-bit, says so: reports reach the scheduler while
  // rounds go on.
  void TrainUntil(absl::FunctionRef<bool(bool)> is_enough) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!is_enough(TrainStep(1.0 / static_cast<double>(step_))) && !testing::Test::HasFailure()) {
      ASSERT_LT(absl::Now(), deadline) << job_.StatusJson();
    }
  }

  JobFixture& job() { return job_; }

 private:
  void WaitForAll(std::vector<Ticket>& tickets) {
    for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kPatience), absl::OkStatus());
    tickets.clear();
  }

  const std::vector<float> initial_ = std::vector<float>(5000);
  JobFixture job_;
  std::vector<std::unique_ptr<Session>> sessions_;
  uint64_t step_ = 0;
};

TEST(JobTest, RoundsGoLowBitAfterTheWarmUpAndFallBack) {
  LowBitJob training;
  EXPECT_FALSE(training.TrainStep(1));
  training.TrainUntil([](bool is_low_bit) { return is_low_bit; });
  training.TrainStep(9);
  std::string status;
  training.TrainUntil([&](bool is_low_bit) {
    // Reports that are late make rounds fall back too, for a while.
    if (!is_low_bit) status = training.job().StatusJson();
    return absl::StrContains(status, R"("veto":"cooldown")");
  });
  EXPECT_FALSE(training.TrainStep(1));
  EXPECT_THAT(status,
              HasSubstr(R"("precision":{"profile":"p","binding":"b","state":"decided","admitted":["encoder"])"));
  EXPECT_THAT(status, HasSubstr(R"("vetoes":1)"));
  EXPECT_THAT(status, HasSubstr(R"("violations":0)"));
  training.job().StopAll();
}

}  // namespace
}  // namespace banyan
