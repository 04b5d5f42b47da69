// Processes that die, stop, leave and come back: the others go on, and every result says exactly whose gradients are in
// it. Gradients are powers of two, so that a sum can be read off.
#include <signal.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Nodes = std::vector<size_t>;

constexpr char kKey[] = "w";
constexpr size_t kElements = 200000;
// How long a result is waited for before another node is looked at.
constexpr absl::Duration kGlance = absl::Milliseconds(1);

// Silence is noticed soon, yet not where a process only waits for its turn on a busy machine.
JobSpec ImpatientJob() {
  JobSpec spec;
  spec.keeps_state = true;
  spec.heartbeat_seconds = 0.25;
  spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
  spec.more = "aggregation: {op: sum}\n";
  return spec;
}

float GradientOf(size_t node) { return static_cast<float>(1 << node); }

float SumOf(const Nodes& nodes) {
  float sum = 0;
  for (const size_t node : nodes) sum += GradientOf(node);
  return sum;
}

// The training process of one node.
class Trainer {
 public:
  Trainer(const JobFixture& job, size_t node) : node_(node), session_(job.Open(node)), values_(kElements) {
    // It sums numbers, and needs nothing that others have.
    Require(session_->ShareState({}), "a worker without a state");
  }

  Ticket StartInit() { return session_->Init(kKey, std::vector<float>(kElements, 0.5f)); }
  void Push() {
    std::fill(values_.begin(), values_.end(), GradientOf(node_));
    ticket_ = session_->PushPull(kKey, values_, absl::MakeSpan(values_));
  }
  absl::Status Wait(absl::Duration timeout = kPatience) { return ticket_.Wait(timeout); }
  const std::vector<float>& values() const { return values_; }
  bool HasResult(float sum) const {
    return std::all_of(values_.begin(), values_.end(), [sum](float value) { return value == sum; });
  }
  Session& session() { return *session_; }

 private:
  size_t node_;
  std::unique_ptr<Session> session_;
  std::vector<float> values_;
  Ticket ticket_;
};

class RecoveryTest : public testing::Test {
 protected:
  explicit RecoveryTest(const JobSpec& spec = ImpatientJob()) : job_(spec), trainers_(job_.nodes()) {
    job_.StartAll();
    std::vector<Ticket> inits;
    for (const size_t node : {0, 1, 2}) {
      Attach(node);
      inits.push_back(trainers_[node]->StartInit());
    }
    for (Ticket& init : inits) Require(init.Wait(kPatience), "init");
  }

  void Attach(size_t node) {
    trainers_[node].reset();
    trainers_[node] = std::make_unique<Trainer>(job_, node);
  }

  void Push(const Nodes& nodes) {
    for (const size_t node : nodes) trainers_[node]->Push();
  }
  // Each of the nodes gets the sum of exactly these gradients.
  void Finish(const Nodes& nodes, const Nodes& contributors) {
    for (const size_t node : nodes) {
      ASSERT_EQ(trainers_[node]->Wait(), absl::OkStatus()) << JobFixture::NameOf(node);
      EXPECT_TRUE(trainers_[node]->HasResult(SumOf(contributors)))
          << JobFixture::NameOf(node) << " has " << trainers_[node]->values().front() << " ... "
          << trainers_[node]->values().back() << ", and the sum is " << SumOf(contributors);
    }
  }
  void Round(const Nodes& nodes) {
    Push(nodes);
    Finish(nodes, nodes);
  }
  // The same with a node whose gradient may be in some chunks and not in others, alike for all.
  void FinishWithOrWithout(const Nodes& nodes, size_t doubtful) {
    Nodes more = nodes;
    more.push_back(doubtful);
    const std::set<float> sums = {SumOf(nodes), SumOf(more)};
    for (const size_t node : nodes) {
      ASSERT_EQ(trainers_[node]->Wait(), absl::OkStatus()) << JobFixture::NameOf(node);
      const std::vector<float>& values = trainers_[node]->values();
      EXPECT_TRUE(std::all_of(values.begin(), values.end(), [&sums](float value) { return sums.count(value) > 0; }));
      EXPECT_TRUE(values == trainers_[nodes.front()]->values()) << "two nodes have different results";
    }
  }

  // Rounds until one has the gradients of all these nodes, of whom some have just come back: they begin with different
  // rounds, and each goes on as soon as it has a result.
  void TrainUntilTogether(const Nodes& nodes) {
    Push(nodes);
    Nodes apart = nodes;
    const absl::Time deadline = absl::Now() + kPatience;
    while (!apart.empty()) {
      ASSERT_LT(absl::Now(), deadline) << JobFixture::NameOf(apart.front()) << " is in no round with all others";
      std::erase_if(apart, [&](size_t node) { return IsTogether(*trainers_[node], SumOf(nodes)); });
    }
  }
  // Begins another round when this one is done without all.
  static bool IsTogether(Trainer& trainer, float sum) {
    const absl::Status status = trainer.Wait(kGlance);
    if (absl::IsDeadlineExceeded(status)) return false;
    Require(status, "a round");
    if (trainer.HasResult(sum)) return true;
    trainer.Push();
    return false;
  }
  void ComeBack(size_t node) {
    Attach(node);
    Require(trainers_[node]->StartInit().Wait(kPatience), "init of a node that has come back");
  }

  // Whatever a worker does when its node is gone or its job is over ends at once.
  void ExpectCallsFail(size_t node) {
    Session& session = trainers_[node]->session();
    std::vector<float> values(kElements);
    const auto expect = [&](Ticket ticket) {
      const absl::StatusCode code = ticket.Wait(kPatience).code();
      EXPECT_THAT(code, AnyOf(absl::StatusCode::kUnavailable, absl::StatusCode::kCancelled,
                              absl::StatusCode::kFailedPrecondition));
    };
    expect(session.PushPull(kKey, values, absl::MakeSpan(values)));
    expect(session.Broadcast(kKey, values, absl::MakeSpan(values)));
    expect(session.Init("new", values));
    expect(session.Barrier());
  }
  template <typename Matcher>
  void ExpectWaitingFail(const Nodes& nodes, absl::StatusCode code, const Matcher& message) {
    for (const size_t node : nodes) {
      const absl::Status status = trainers_[node]->Wait();
      EXPECT_EQ(status.code(), code) << status;
      EXPECT_THAT(std::string(status.message()), message);
      ExpectCallsFail(node);
    }
  }

  void StopAll() {
    trainers_.clear();
    job_.StopAll();
  }

  JobFixture job_;
  std::vector<std::unique_ptr<Trainer>> trainers_;
};

TEST_F(RecoveryTest, TheOthersGoOnWithoutAKilledNodeAndItComesBack) {
  Round({0, 1, 2});
  Push({0, 1});
  JobFixture::Kill(job_.node(2));
  Finish({0, 1}, {0, 1});
  Round({0, 1});
  job_.StartNode(2);
  ComeBack(2);
  TrainUntilTogether({0, 1, 2});
  Round({0, 1, 2});
  EXPECT_THAT(job_.StatusJson(), HasSubstr("\"state\":\"running\""));
  StopAll();
}

TEST_F(RecoveryTest, WhatAKilledNodeHasPushedIsInAResultOnceOrNotAtAll) {
  Round({0, 1, 2});
  Push({0, 1, 2});
  JobFixture::Kill(job_.node(2));
  FinishWithOrWithout({0, 1}, 2);
  Round({0, 1});
  StopAll();
}

TEST_F(RecoveryTest, TheWorkerOfAKilledNodeIsToldAtOnce) {
  Push({2});
  JobFixture::Kill(job_.node(2));
  ExpectWaitingFail({2}, absl::StatusCode::kUnavailable, AllOf(HasSubstr("n3"), HasSubstr("key w, round 1")));
}

// The lowest node: the one whose values broadcasts take.
TEST_F(RecoveryTest, ANodeThatIsRestartedAtOnceComesBack) {
  Round({0, 1, 2});
  JobFixture::Kill(job_.node(0));
  job_.StartNode(0);
  ComeBack(0);
  TrainUntilTogether({0, 1, 2});
  Round({0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, AStoppedNodeFallsOutAndJoinsAgainWhenItContinues) {
  Round({0, 1, 2});
  job_.node(2).Signal(SIGSTOP);
  Round({0, 1});
  Round({0, 1});
  job_.node(2).Signal(SIGCONT);
  job_.WaitForLog("n3", "joins again as a new start");
  ComeBack(2);
  TrainUntilTogether({0, 1, 2});
  Round({0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, ANodeThatIsAskedToStopLeaves) {
  Round({0, 1, 2});
  Push({0, 1});
  job_.node(2).Signal(SIGTERM);
  EXPECT_TRUE(job_.node(2).WaitUntilEnded(kPatience));
  EXPECT_EQ(job_.node(2).failure(), JobFixture::AskedToEnd(SIGTERM));
  Finish({0, 1}, {0, 1});
  Round({0, 1});
  StopAll();
}

TEST_F(RecoveryTest, ASessionThatClosesInTheMiddleOfARoundHasLeft) {
  Push({0, 1});
  trainers_[2].reset();
  Finish({0, 1}, {0, 1});
  Round({0, 1});
  StopAll();
}

TEST_F(RecoveryTest, AJobWhoseNodesAreAllGoneWaitsForThem) {
  Round({0, 1, 2});
  for (const size_t node : {0, 1, 2}) JobFixture::Kill(job_.node(node));
  job_.WaitForLog("scheduler", "the job waits: ");
  EXPECT_THAT(job_.StatusJson(), HasSubstr("\"state\":\"running\""));
  for (const size_t node : {0, 1, 2}) job_.StartNode(node);
  for (const size_t node : {0, 1, 2}) ComeBack(node);
  TrainUntilTogether({0, 1, 2});
  Round({0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, ABarrierIsPassedWithoutAKilledNode) {
  Ticket first = trainers_[0]->session().Barrier();
  Ticket second = trainers_[1]->session().Barrier();
  EXPECT_TRUE(absl::IsDeadlineExceeded(first.Wait(kGlance)));
  JobFixture::Kill(job_.node(2));
  EXPECT_EQ(first.Wait(kPatience), absl::OkStatus());
  EXPECT_EQ(second.Wait(kPatience), absl::OkStatus());
  Round({0, 1});
  StopAll();
}

TEST_F(RecoveryTest, AKilledSchedulerIsWaitedFor) {
  Round({0, 1, 2});
  JobFixture::Kill(job_.scheduler());
  Push({0, 1, 2});
  job_.StartScheduler();
  Finish({0, 1, 2}, {0, 1, 2});
  Round({0, 1, 2});
  JobFixture::Kill(job_.node(1));
  Round({0, 2});
  StopAll();
}

TEST_F(RecoveryTest, RoundsGoOnWithoutAScheduler) {
  for (int round = 0; round < 3; ++round) Round({0, 1, 2});
  JobFixture::Kill(job_.scheduler());
  for (int round = 0; round < 10; ++round) Round({0, 1, 2});
  job_.StartScheduler();
  job_.WaitForLog("scheduler", "is back from");
  for (int round = 0; round < 30; ++round) Round({0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, ANodeMayDieWhileThereIsNoScheduler) {
  Round({0, 1, 2});
  JobFixture::Kill(job_.scheduler());
  JobFixture::Kill(job_.node(2));
  Push({0, 1});
  job_.StartScheduler();
  Finish({0, 1}, {0, 1});
  job_.StartNode(2);
  ComeBack(2);
  TrainUntilTogether({0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, ASchedulerThatIsAskedToStopEndsNoJob) {
  Round({0, 1, 2});
  job_.scheduler().Signal(SIGTERM);
  EXPECT_TRUE(job_.scheduler().WaitUntilEnded(kPatience));
  EXPECT_EQ(job_.scheduler().failure(), JobFixture::AskedToEnd(SIGTERM));
  Push({0, 1, 2});
  job_.StartScheduler();
  Finish({0, 1, 2}, {0, 1, 2});
  StopAll();
}

TEST_F(RecoveryTest, AnOperatorStopsTheJobForAll) {
  Round({0, 1, 2});
  Push({0, 1});
  const std::unique_ptr<ChildProcess> stop =
      job_.StartCommand("stop", {"stop", "--scheduler", job_.scheduler_address()});
  EXPECT_TRUE(stop->WaitUntilEnded(kPatience));
  EXPECT_EQ(stop->failure(), "") << job_.LogOf("stop");
  ExpectWaitingFail({0, 1}, absl::StatusCode::kCancelled, HasSubstr("stopped by an operator"));
  ExpectCallsFail(2);
  StopAll();
}

// One that keeps nothing: the job is over with it, and those who wait learn it from the next one.
class ForgottenJobTest : public RecoveryTest {
 protected:
  static JobSpec Spec() {
    JobSpec spec = ImpatientJob();
    spec.keeps_state = false;
    return spec;
  }
  ForgottenJobTest() : RecoveryTest(Spec()) {}
};

TEST_F(ForgottenJobTest, AnotherSchedulerEndsTheJob) {
  Round({0, 1, 2});
  Push({0, 1});
  JobFixture::Kill(job_.scheduler());
  job_.StartScheduler();
  ExpectWaitingFail({0, 1}, absl::StatusCode::kFailedPrecondition,
                    AllOf(HasSubstr("key w, round 2"), HasSubstr("lost its records; restart the job")));
}

class ImpatientForSchedulerTest : public RecoveryTest {
 protected:
  static JobSpec Spec() {
    JobSpec spec = ImpatientJob();
    spec.scheduler_lost_after_seconds = 6;
    return spec;
  }
  ImpatientForSchedulerTest() : RecoveryTest(Spec()) {}
};

TEST_F(ImpatientForSchedulerTest, ASchedulerThatStaysAwayIsNamed) {
  Round({0, 1, 2});
  Push({0, 1});
  JobFixture::Kill(job_.scheduler());
  ExpectWaitingFail(
      {0, 1}, absl::StatusCode::kUnavailable,
      AllOf(HasSubstr("key w, round 2"), HasSubstr("nothing heard from the scheduler at " + job_.scheduler_address())));
}

TEST(WorkerDeathTest, TheOthersGoOnWithoutAKilledWorkerAndAnotherOneTakesItsPlace) {
  JobSpec spec = ImpatientJob();
  spec.more = "";
  JobFixture job(spec);
  job.StartAll();
  std::unique_ptr<ChildProcess> victim = job.StartWorkerProcess(1, 0);
  const std::unique_ptr<ChildProcess> other = job.StartWorkerProcess(2, 0);
  const std::unique_ptr<Session> session = job.Open(0);
  std::vector<float> values(1000, 1.0f);
  ASSERT_EQ(session->Init(kKey, values).Wait(kPatience), absl::OkStatus());
  const auto train = [&](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      ASSERT_EQ(session->PushPull(kKey, values, absl::MakeSpan(values)).Wait(kPatience), absl::OkStatus());
      // All workers push ones, and their mean is one, whoever is in it.
      EXPECT_EQ(values[0], 1.0f);
    }
  };
  train(3);
  JobFixture::Kill(*victim);
  train(20);
  EXPECT_TRUE(other->running());
  victim = job.StartWorkerProcess(1, 0);
  const absl::Time deadline = absl::Now() + kPatience;
  while (!absl::StrContains(job.LogOf("worker-n2-0"), "round ")) {
    ASSERT_LT(absl::Now(), deadline);
    train(1);
  }
  train(3);
  JobFixture::Kill(*victim);
  JobFixture::Kill(*other);
  train(3);
  EXPECT_THAT(job.LogOf("worker-n2-0"), Not(HasSubstr("UNAVAILABLE")));
}

// Several keys, and a fault in the middle of their rounds.
class BusyJobTest : public testing::Test {
 protected:
  static JobSpec Spec() {
    JobSpec spec = ImpatientJob();
    spec.nodes = 4;
    return spec;
  }
  BusyJobTest() : job_(Spec()) {
    job_.StartAll();
    sessions_ = job_.OpenAll();
    std::vector<Ticket> inits;
    for (const std::unique_ptr<Session>& session : sessions_) {
      for (const std::string& key : keys_) inits.push_back(session->Init(key, std::vector<float>(kElements, 0)));
    }
    for (Ticket& init : inits) Require(init.Wait(kPatience), "init");
  }

  // One node's part of one round of all keys.
  struct Part {
    std::vector<std::vector<float>> values;
    std::vector<Ticket> tickets;
  };
  Part Push(size_t node) {
    Part part;
    part.values.assign(keys_.size(), std::vector<float>(kElements, GradientOf(node)));
    for (size_t key = 0; key < keys_.size(); ++key) {
      std::vector<float>& values = part.values[key];
      part.tickets.push_back(sessions_[node]->PushPull(keys_[key], values, absl::MakeSpan(values)));
    }
    return part;
  }
  // A round of these nodes. All get the same: in each element one of these sums.
  void Round(const Nodes& nodes, const std::set<float>& sums) {
    std::vector<Part> parts;
    for (const size_t node : nodes) parts.push_back(Push(node));
    for (Part& part : parts) {
      for (Ticket& ticket : part.tickets) ASSERT_EQ(ticket.Wait(kPatience), absl::OkStatus());
      for (const std::vector<float>& values : part.values) {
        EXPECT_TRUE(std::all_of(values.begin(), values.end(), [&](float value) { return sums.count(value) > 0; }));
      }
      EXPECT_TRUE(part.values == parts.front().values) << "two nodes have different results";
    }
  }
  // The node dies with a round under way, which it has pushed.
  void KillInRound(size_t victim, const Nodes& survivors) {
    Part part = Push(victim);
    JobFixture::Kill(job_.node(victim));
    Nodes all = survivors;
    all.push_back(victim);
    Round(survivors, {SumOf(survivors), SumOf(all)});
    for (Ticket& ticket : part.tickets) EXPECT_TRUE(absl::IsUnavailable(ticket.Wait(kPatience)));
  }

  const std::vector<std::string> keys_ = {"a", "b", "c"};
  JobFixture job_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(BusyJobTest, NodesThatDieAmongManyRoundsAreInEachResultOnceOrNot) {
  for (int i = 0; i < 3; ++i) Round({0, 1, 2, 3}, {SumOf({0, 1, 2, 3})});
  KillInRound(3, {0, 1, 2});
  for (int i = 0; i < 3; ++i) Round({0, 1, 2}, {SumOf({0, 1, 2})});
  KillInRound(0, {1, 2});
  for (int i = 0; i < 3; ++i) Round({1, 2}, {SumOf({1, 2})});
  KillInRound(1, {2});
  Round({2}, {SumOf({2})});
}

// The epoch without n3 begins a moment after the answer, and the scheduler does not live to see it, or just so.
TEST_F(RecoveryTest, ARemovalOutlivesTheScheduler) {
  Round({0, 1, 2});
  const std::unique_ptr<ChildProcess> remove =
      job_.StartCommand("remove", {"remove", "n3", "--scheduler", job_.scheduler_address()});
  EXPECT_TRUE(remove->WaitUntilEnded(kPatience));
  EXPECT_EQ(remove->failure(), "") << job_.LogOf("remove");
  JobFixture::Kill(job_.scheduler());
  job_.StartScheduler();
  job_.WaitForLog("n3", "was removed from the job");
  EXPECT_TRUE(job_.node(2).WaitUntilEnded(kPatience));
  trainers_[2].reset();
  TrainUntilTogether({0, 1});
}

}  // namespace
}  // namespace banyan
