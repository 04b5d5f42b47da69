// Networks that break between the processes of a job. A lost connection costs a resend, never the round. A link that
// falls silent is avoided, or waited for where there is no other way; a node that the scheduler does not hear falls
// out.
#include <atomic>
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
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
using ::testing::Not;

constexpr int64_t kElements = 1000000;

// n1 - n2 - n3.
JobSpec Chain() {
  JobSpec spec;
  spec.links = "links:\n  - {between: [n1, n2], mbps: 100}\n  - {between: [n2, n3], mbps: 100}\n";
  return spec;
}

// A node that has come back is in one of so many rounds of the others, or in none.
constexpr int kMostRoundsApart = 50;

// With this a node begins each connection to another one: the job and the first term, then its own id.
std::string HelloOf(size_t node) {
  return absl::StrCat("test\x18\x01\x20", std::string(1, static_cast<char>(node + 1)));
}

JobSpec ImpatientChain() {
  JobSpec spec = Chain();
  spec.heartbeat_seconds = 0.25;
  spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
  return spec;
}

JobSpec ImpatientPair() {
  JobSpec spec = ImpatientChain();
  spec.nodes = 2;
  spec.links = "";
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
      if (node + 1 == job_.nodes()) job_.ReachSchedulersAt(scheduler_proxy_.address());
      job_.StartNode(node, {"--advertise", node_proxies_.back()->address()});
    }
    sessions_ = job_.OpenAll();
    training_ = std::make_unique<TestTraining>(TrainingOfFirst(sessions_.size()));
    training_->Init();
    training_->PushPullRound();
  }

  JobFixture& job() { return job_; }
  TcpProxy& to_node(size_t node) { return *node_proxies_[node]; }
  TcpProxy& to_scheduler() { return scheduler_proxy_; }
  TestTraining& training() { return *training_; }
  // The training of these nodes alone.
  TestTraining TrainingOfFirst(size_t nodes) const {
    std::vector<Session*> sessions = Addresses(sessions_);
    sessions.resize(nodes);
    return TestTraining(std::move(sessions), {{"w", kElements}, {"b", 10}});
  }

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

// As when a NAT has forgotten the connections: nobody is told, and new ones pass.
TEST(PartitionTest, ConnectionsThatSwallowAllCostARoundNoMoreThanASilentPeer) {
  ProxiedJob chain(ImpatientChain());
  for (const bool one_way : {true, false}) {
    for (size_t node = 0; node < 3; ++node) chain.to_node(node).SwallowOfPresent(one_way);
    chain.training().PushPullRound();
    chain.training().PushPullRound();
  }
  EXPECT_GT(chain.to_node(1).swallowing(), 4);
  EXPECT_THAT(chain.job().LogOf("n1"), HasSubstr("nothing passed over a connection to n2"));
  EXPECT_THAT(chain.job().LogOf("scheduler"), Not(HasSubstr("has lost its neighbour")));
  chain.job().StopAll();
}

// As where a tunnel drops large packets.
TEST(PartitionTest, ALinkThatOnlySmallMessagesPassIsNamed) {
  ProxiedJob chain(ImpatientPair());
  // Less than a chunk, and more than greetings and a few heartbeats.
  chain.to_node(1).SwallowAfter(8000, /*one_way=*/true);
  std::vector<Ticket> tickets = chain.training().StartRound();
  chain.job().WaitForLog("scheduler", "has lost its neighbour n2: it connects at tcp://127.0.0.1:");
  chain.job().WaitForLog("scheduler", "epoch 2 waits, since there is no plan for its members");
  EXPECT_THAT(chain.job().StatusJson(), HasSubstr("large messages do not pass (path MTU?)"));
  chain.to_node(1).SwallowNoMore();
  chain.training().FinishRound(std::move(tickets));
  chain.training().PushPullRound();
  chain.job().StopAll();
}

// Two nodes that have no other way to each other wait, and go on when their link is tried again.
TEST(PartitionTest, TwoNodesThatHearNothingOfEachOtherWait) {
  ProxiedJob pair(ImpatientPair());
  pair.to_node(0).FallSilent();
  pair.to_node(1).FallSilent();
  std::vector<Ticket> tickets = pair.training().StartRound();
  pair.job().WaitForLog("scheduler", "epoch 2 waits, since there is no plan for its members");
  EXPECT_THAT(pair.job().StatusJson(),
              AllOf(HasSubstr("there is no plan for these members: the overlay is disconnected: no path of links leads "
                              "from 'n1' to 'n2'"),
                    HasSubstr("\"between\":[\"n1\",\"n2\"]"), HasSubstr("has lost its neighbour")));
  pair.to_node(0).SpeakAgain();
  pair.to_node(1).SpeakAgain();
  pair.training().FinishRound(std::move(tickets));
  pair.training().PushPullRound();
  pair.job().StopAll();
}

TEST(PartitionTest, SilenceInOneDirectionNamesBothEnds) {
  ProxiedJob chain(ImpatientPair());
  // Only n2 sends to n1, which gets no result. The others may have it before the silence is noticed.
  chain.to_node(0).FallSilent();
  const std::vector<Ticket> tickets = chain.training().StartRound();
  chain.job().WaitForLog("scheduler", "n1 has lost its neighbour n2");
  chain.job().WaitForLog("scheduler", "no path of links leads from 'n1' to 'n2'");
  EXPECT_FALSE(tickets.front().done());
  chain.job().StopAll();
}

// n1 and n2 reach each other over n3.
TEST(PartitionTest, ALinkThatFallsSilentIsAvoided) {
  JobSpec spec = ImpatientChain();
  spec.links = "";
  ProxiedJob triangle(spec);
  triangle.to_node(0).FallSilent(HelloOf(1));
  triangle.to_node(1).FallSilent(HelloOf(0));
  for (int round = 0; round < 3; ++round) triangle.training().PushPullRound();
  triangle.job().WaitForLog("scheduler", "epoch 2 goes on");
  EXPECT_THAT(triangle.job().StatusJson(), HasSubstr("\"between\":[\"n1\",\"n2\"]"));
  triangle.training().PushPullRound();
  triangle.job().StopAll();
}

// The scheduler hears it all the time.
TEST(PartitionTest, ANodeThatNoOtherReachesFallsOutAndTheOthersGoOn) {
  JobSpec spec = ImpatientChain();
  spec.links = "";
  ProxiedJob triangle(spec);
  TestTraining others = triangle.TrainingOfFirst(2);
  std::vector<Ticket> tickets = others.StartRound();
  triangle.to_node(2).FallSilent();
  for (size_t node = 0; node < 2; ++node) triangle.to_node(node).FallSilent(HelloOf(2));
  others.FinishRound(std::move(tickets));
  triangle.job().WaitForLog("scheduler", "n3 falls out: none of the links that lead to the other members works");
  others.PushPullRound();
  triangle.job().WaitForLog("scheduler", "n3 waits to join: none of the links");
  triangle.job().StopAll();
}

// It falls out, and joins again when it hears the scheduler.
TEST(PartitionTest, ANodeThatTheSchedulerDoesNotHearFallsOutUntilItIsHeardAgain) {
  ProxiedJob chain(ImpatientChain());
  TestTraining others = chain.TrainingOfFirst(2);
  std::vector<Ticket> tickets = others.StartRound();
  chain.to_scheduler().FallSilent();
  others.FinishRound(std::move(tickets));
  EXPECT_THAT(chain.job().LogOf("scheduler"), HasSubstr("nothing heard from n3"));
  others.PushPullRound();
  chain.to_scheduler().SpeakAgain();
  chain.job().WaitForLog("n3", "joins again as a new start");
  const std::unique_ptr<Session> back = chain.job().Open(2);
  std::vector<float> values(kElements, 1.0f);
  EXPECT_EQ(back->ShareState({}), absl::OkStatus()) << "it sums numbers";
  EXPECT_EQ(back->Init("w", values).Wait(kPatience), absl::OkStatus());
  // From its first round on the others wait for it, so that it trains until the job ends.
  std::atomic<int> rounds = 0;
  const std::jthread training([&back, &values, &rounds] {
    while (back->PushPull("w", values, absl::MakeSpan(values)).Wait(kPatience).ok()) ++rounds;
  });
  for (int round = 0; round < kMostRoundsApart && rounds == 0; ++round) {
    ASSERT_EQ(others.TryRound(), absl::OkStatus());
  }
  EXPECT_GT(rounds, 0);
  chain.job().StopAll();
}

}  // namespace
}  // namespace banyan
