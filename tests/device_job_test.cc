// Jobs whose nodes compute on a device with memory of its own: the results are those of the processor, to the bit.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kChunks = 3;
constexpr size_t kElements = kChunks * 50'000;
constexpr uint64_t kRounds = 3;

// What all workers have of each round, one after the other, and the log of n1.
struct Outcome {
  std::vector<float> results;
  std::string log;
};

// Gradients whose sum depends on the order, and which differ in their magnitudes.
std::vector<float> Gradient(size_t node, uint64_t round) {
  std::vector<float> gradient(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    gradient[i] = std::sin(0.37f * static_cast<float>(i * (node + 2) + round)) / static_cast<float>(1 + i % 89);
  }
  return gradient;
}

// Runs a job with such compression, node i with `--device devices[i]`.
Outcome Train(const std::string& compression, const std::vector<std::string>& devices) {
  JobSpec spec;
  spec.more =
      absl::StrCat("aggregation: {order: fixed}\ntopology: {planner: star, root: n1}\nawareness: {enabled: false}\n",
                   "compression: ", compression, "\n");
  JobFixture job(spec);
  job.StartScheduler();
  for (size_t node = 0; node < job.nodes(); ++node) job.StartNode(node, {"--device", devices[node]});
  std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  std::vector<Ticket> tickets;
  for (auto& session : sessions) tickets.push_back(session->Init("w", std::vector<float>(kElements)));
  for (Ticket& ticket : tickets) Require(ticket.Wait(kPatience), "init");
  Outcome outcome;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    std::vector<std::vector<float>> gradients;
    std::vector<std::vector<float>> results(sessions.size(), std::vector<float>(kElements));
    tickets.clear();
    for (size_t node = 0; node < sessions.size(); ++node) {
      gradients.push_back(Gradient(node, round));
      tickets.push_back(sessions[node]->PushPull("w", gradients[node], absl::MakeSpan(results[node])));
    }
    for (Ticket& ticket : tickets) Require(ticket.Wait(kPatience), "round");
    for (const std::vector<float>& result : results) {
      outcome.results.insert(outcome.results.end(), result.begin(), result.end());
    }
  }
  sessions.clear();
  job.StopAll();
  outcome.log = job.LogOf("n1");
  return outcome;
}

class DeviceJobTest : public testing::TestWithParam<const char*> {};

TEST_P(DeviceJobTest, ResultsAreThoseOfTheProcessor) {
  const Outcome expected = Train(GetParam(), {"cpu", "cpu", "cpu"});
  EXPECT_THAT(expected.log, Not(HasSubstr("device")));
  // All nodes, or one beside others without.
  const std::vector<std::vector<std::string>> jobs = {{"emulated", "emulated", "emulated"}, {"emulated", "cpu", "cpu"}};
  for (const std::vector<std::string>& devices : jobs) {
    const Outcome outcome = Train(GetParam(), devices);
    ASSERT_EQ(outcome.results, expected.results);
    // The root encodes each result; how often it adds depends on when parts arrive.
    EXPECT_THAT(outcome.log, HasSubstr(absl::StrCat("device emulated: encoded ", kChunks * kRounds, " chunks, made ")));
    EXPECT_THAT(outcome.log, Not(HasSubstr("made 0 sums")));
    EXPECT_THAT(outcome.log, HasSubstr(" sums; had no memory for 0"));
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, DeviceJobTest,
                         testing::Values("{codec: topk, ratio: 0.05}", "{codec: onebit_rht, error_feedback: true}",
                                         "{codec: fp16}"));

TEST(MissingDeviceTest, ANodeWithoutItsGpuDoesNotStart) {
  JobFixture job(JobSpec{});
  job.StartNode(0, {"--device", "cuda:1000"});
  ASSERT_TRUE(job.node(0).WaitUntilEnded(kPatience));
  EXPECT_THAT(job.LogOf("n1"), HasSubstr("banyan node: --device cuda:1000: expected "));
  EXPECT_THAT(job.LogOf("n1"), HasSubstr("; or leave --device out"));
}

}  // namespace
}  // namespace banyan
