// A training of real processes that is run again from their transcripts, bit for bit.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr size_t kElements = 20'000;
constexpr int kRounds = 12;

// Trains at one node: gradients depend on all results so far. Returns the parameters, or throws.
std::vector<float> Train(Session& session, size_t node, float target, int rounds) {
  std::vector<float> parameters(kElements, 1.0f);
  Require(session.Init("w", absl::MakeSpan(parameters)).Wait(kPatience), "init");
  std::vector<float> gradient(kElements);
  std::vector<float> update(kElements);
  for (int round = 1; round <= rounds; ++round) {
    for (size_t i = 0; i < kElements; ++i) {
      const float noise = static_cast<float>((i * 31 + node * 17 + static_cast<size_t>(round) * 7) % 101) / 1000.0f;
      gradient[i] = 0.1f * (target * static_cast<float>(node + 1) - parameters[i]) + noise;
    }
    Require(session.PushPull("w", gradient, absl::MakeSpan(update)).Wait(kPatience), "round");
    for (size_t i = 0; i < kElements; ++i) parameters[i] += update[i];
  }
  return parameters;
}

class ReplayJobTest : public testing::Test {
 protected:
  static JobSpec Spec() {
    JobSpec spec;
    spec.stays = false;
    spec.more =
        "aggregation: {order: fixed}\n"
        "compression: {codec: trim_rht}\n"
        "trimming: {policy: random, share: 0.5}\n";
    return spec;
  }

  std::string TranscriptOf(size_t node) const { return job_.SocketPathOf(node) + ".transcript"; }
  void StartNodes(const std::string& flag) {
    for (size_t node = 0; node < job_.nodes(); ++node) job_.StartNode(node, {flag, TranscriptOf(node)});
  }
  // Each node's worker on a thread of its own. Returns the parameters, or the error's text in `error`.
  std::vector<std::vector<float>> TrainAll(float target, std::string* error = nullptr) {
    std::vector<std::vector<float>> parameters(job_.nodes());
    std::vector<std::string> errors(job_.nodes());
    std::vector<std::thread> threads;
    for (size_t node = 0; node < job_.nodes(); ++node) {
      threads.emplace_back([this, node, target, &parameters, &errors] {
        try {
          const std::unique_ptr<Session> session = job_.Open(node);
          parameters[node] = Train(*session, node, target, kRounds);
        } catch (const std::exception& failed) {
          errors[node] = failed.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : errors) {
      if (error == nullptr) {
        EXPECT_EQ(text, "");
      } else if (!text.empty()) {
        *error = text;
      }
    }
    return parameters;
  }
  void WaitForNodes() {
    for (size_t node = 0; node < job_.nodes(); ++node) {
      EXPECT_TRUE(job_.node(node).WaitUntilEnded(kPatience)) << job_.LogOf(JobFixture::NameOf(node));
    }
  }
  std::unique_ptr<ChildProcess> StartReplay() {
    std::vector<std::string> arguments = {"replay", "--listen", job_.scheduler_address()};
    for (size_t node = 0; node < job_.nodes(); ++node) {
      arguments.push_back("--transcript");
      arguments.push_back(TranscriptOf(node));
    }
    return job_.StartCommand("replay", arguments);
  }

  JobFixture job_{Spec()};
};

TEST_F(ReplayJobTest, ATrainingIsRunAgainToTheBitAndAnotherOneIsRefused) {
  job_.StartScheduler();
  StartNodes("--transcript");
  const std::vector<std::vector<float>> first = TrainAll(1);
  WaitForNodes();
  ASSERT_TRUE(job_.scheduler().WaitUntilEnded(kPatience));

  std::unique_ptr<ChildProcess> replay = StartReplay();
  StartNodes("--replay");
  const std::vector<std::vector<float>> again = TrainAll(1);
  EXPECT_TRUE(first == again);
  EXPECT_NE(first[0], std::vector<float>(kElements, 1.0f));
  WaitForNodes();
  EXPECT_TRUE(replay->WaitUntilEnded(kPatience));
  EXPECT_EQ(replay->failure(), "") << job_.LogOf("replay");

  replay = StartReplay();
  StartNodes("--replay");
  std::string error;
  TrainAll(2, &error);
  EXPECT_THAT(error, HasSubstr("differs from that of the transcript of n"));
  WaitForNodes();
  EXPECT_TRUE(replay->WaitUntilEnded(kPatience));
  EXPECT_EQ(replay->failure(), "exit code 1") << job_.LogOf("replay");
}

TEST_F(ReplayJobTest, ATranscriptNeedsAFixedOrder) {
  JobSpec spec = Spec();
  spec.nodes = 2;
  spec.more = "";
  JobFixture job(spec);
  job.StartScheduler();
  job.StartNode(0, {"--transcript", job.SocketPathOf(0) + ".transcript"});
  EXPECT_TRUE(job.node(0).WaitUntilEnded(kPatience));
  EXPECT_THAT(job.LogOf("n1"), HasSubstr("--transcript: sums in the order of arrival"));
}

}  // namespace
}  // namespace banyan
