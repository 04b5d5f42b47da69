// Networks that break between the processes of a job. A lost connection costs a resend, never the round; silence ends
// the round with an error that names both ends.
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/tcp_proxy.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kElements = 1000000;

// n1 - n2 - n3.
JobSpec Chain() {
  JobSpec spec;
  spec.links = "links:\n  - {between: [n1, n2], mbps: 100}\n  - {between: [n2, n3], mbps: 100}\n";
  return spec;
}

JobSpec ImpatientChain() {
  JobSpec spec = Chain();
  spec.heartbeat_seconds = 0.25;
  spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
  return spec;
}

// A job whose processes reach each other through proxies: one in front of each node, one in front of the scheduler.
class ProxiedJob {
 public:
  explicit ProxiedJob(const JobSpec& spec) : job_(spec), scheduler_proxy_(job_.scheduler_port()) {
    job_.StartScheduler();
    for (size_t node = 0; node < job_.nodes(); ++node) {
      node_proxies_.push_back(std::make_unique<TcpProxy>(job_.PortOf(node)));
      // The last node alone reaches the scheduler through the proxy.
      if (node + 1 == job_.nodes()) job_.ReachSchedulerAt(scheduler_proxy_.address());
      job_.StartNode(node, {"--advertise", node_proxies_.back()->address()});
    }
    sessions_ = job_.OpenAll();
    training_ = std::make_unique<TestTraining>(Addresses(sessions_),
                                               std::vector<TestTraining::Tensor>{{"w", kElements}, {"b", 10}});
    training_->Init();
    training_->PushPullRound();
  }

  JobFixture& job() { return job_; }
  TcpProxy& to_node(size_t node) { return *node_proxies_[node]; }
  TcpProxy& to_scheduler() { return scheduler_proxy_; }
  TestTraining& training() { return *training_; }

 private:
  JobFixture job_;
  TcpProxy scheduler_proxy_;
  std::vector<std::unique_ptr<TcpProxy>> node_proxies_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unique_ptr<TestTraining> training_;
};

// Waits until the scheduler has been told that bytes were sent again.
void ExpectResentBytesInStatus(JobFixture& job) {
  const absl::Time deadline = absl::Now() + kPatience;
  const std::regex resent("\"resent_bytes\":[1-9]");
  while (!std::regex_search(job.StatusJson(), resent)) {
    ASSERT_LT(absl::Now(), deadline) << job.LogOf("status");
  }
}

TEST(PartitionTest, DroppedConnectionsCostAResendOnly) {
  ProxiedJob chain(Chain());
  for (int round = 1; round <= 5; ++round) {
    SCOPED_TRACE(round);
    int dropped[3];
    for (size_t node = 0; node < 3; ++node) {
      dropped[node] = chain.to_node(node).dropped();
      // Somewhere in the round, of which each node receives as much as the tensor has, or more.
      chain.to_node(node).DropAfter(kElements / 2 * round);
    }
    chain.training().PushPullRound();
    if (testing::Test::HasFatalFailure()) return;
    for (size_t node = 0; node < 3; ++node) {
      EXPECT_GT(chain.to_node(node).dropped(), dropped[node]) << "no connection of n" << node + 1 << " was dropped";
    }
  }
  ExpectResentBytesInStatus(chain.job());
  chain.job().StopAll();
}

TEST(PartitionTest, ConnectionsThatDropAgainAndAgainDelayTheRound) {
  ProxiedJob chain(Chain());
  std::vector<Ticket> tickets = chain.training().StartRound();
  for (int drop = 1; drop <= 5; ++drop) {
    const int before = chain.to_node(1).dropped();
    chain.to_node(1).DropAfter(kElements / 4);
    // The last bytes of the round may have passed before.
    while (!chain.to_node(1).WaitUntilDropped(before + 1, absl::Milliseconds(10))) {
      bool done = true;
      for (const Ticket& ticket : tickets) done = done && ticket.done();
      if (done) break;
    }
  }
  for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kPatience), absl::OkStatus());
  EXPECT_GT(chain.to_node(1).dropped(), 0);
  chain.training().PushPullRound();
  chain.job().StopAll();
}

TEST(PartitionTest, ALostConnectionToTheSchedulerIsMadeAgain) {
  ProxiedJob chain(Chain());
  for (int round = 1; round <= 5; ++round) {
    std::vector<Ticket> tickets = chain.training().StartRound();
    chain.to_scheduler().Drop();
    for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kPatience), absl::OkStatus());
  }
  EXPECT_GT(chain.to_scheduler().dropped(), 0);
  chain.training().PushPullRound();
  chain.job().StopAll();
}

TEST(PartitionTest, AShortSilenceDelaysTheRound) {
  ProxiedJob chain(Chain());
  for (size_t node = 0; node < 3; ++node) chain.to_node(node).FallSilent();
  std::vector<Ticket> tickets = chain.training().StartRound();
  EXPECT_EQ(tickets.front().Wait(absl::Milliseconds(100)).code(), absl::StatusCode::kDeadlineExceeded);
  for (size_t node = 0; node < 3; ++node) chain.to_node(node).SpeakAgain();
  for (Ticket& ticket : tickets) EXPECT_EQ(ticket.Wait(kPatience), absl::OkStatus());
  chain.training().PushPullRound();
  chain.job().StopAll();
}

TEST(PartitionTest, SilenceBetweenTwoNodesNamesBoth) {
  JobSpec spec = ImpatientChain();
  spec.nodes = 2;
  spec.links = "";
  ProxiedJob pair(spec);
  pair.to_node(0).FallSilent();
  pair.to_node(1).FallSilent();
  for (Ticket& ticket : pair.training().StartRound()) {
    const absl::Status status = ticket.Wait(kPatience);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("n1"), HasSubstr("n2"), HasSubstr("has lost its neighbour")));
  }
  EXPECT_EQ(pair.training().TryRound().code(), absl::StatusCode::kUnavailable);
  pair.job().StopAll();
}

TEST(PartitionTest, SilenceInOneDirectionNamesBothEnds) {
  ProxiedJob chain(ImpatientChain());
  // Only n2 sends to n1, which gets no result. The others may have it before the silence is noticed.
  chain.to_node(0).FallSilent();
  absl::Status status;
  for (Ticket& ticket : chain.training().StartRound()) status.Update(ticket.Wait(kPatience));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("n1 has lost its neighbour n2"));
  EXPECT_EQ(chain.training().TryRound().code(), absl::StatusCode::kUnavailable);
  chain.job().StopAll();
}

TEST(PartitionTest, SilenceBetweenANodeAndTheSchedulerIsNamedOnBothSides) {
  ProxiedJob chain(ImpatientChain());
  std::vector<Ticket> tickets = chain.training().StartRound(/*skipped=*/1);
  chain.to_scheduler().FallSilent();
  for (Ticket& ticket : tickets) {
    const absl::Status status = ticket.Wait(kPatience);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr("nothing heard from n3"));
  }
  chain.job().WaitForLog("n3", "nothing heard from the scheduler");
  EXPECT_EQ(chain.training().TryRound().code(), absl::StatusCode::kUnavailable);
  chain.job().StopAll();
}

}  // namespace
}  // namespace banyan
