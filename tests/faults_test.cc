// Processes that die or fall silent: every waiting worker gets an error that names the lost one, later calls end at
// once, nothing hangs, and the others stop cleanly.
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Silence is noticed soon, yet not where a process only waits for its turn on a busy machine.
JobSpec ImpatientJob() {
  JobSpec spec;
  spec.heartbeat_seconds = 0.25;
  spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
  return spec;
}

// Whatever a worker does after its job has failed ends at once.
void ExpectUnavailable(Session& session, const std::string& key, size_t elements) {
  std::vector<float> values(elements);
  EXPECT_EQ(session.PushPull(key, values, absl::MakeSpan(values)).Wait(kPatience).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(session.Broadcast(key, values, absl::MakeSpan(values)).Wait(kPatience).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(session.Init("new", values).Wait(kPatience).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session.Barrier().Wait(kPatience).code(), absl::StatusCode::kUnavailable);
}

// A job in the middle of a round: all workers have pushed but the last one, whose node is the last.
class FaultsTest : public testing::Test {
 protected:
  static constexpr size_t kElements = 100000;

  explicit FaultsTest(const JobSpec& spec = ImpatientJob()) : job_(spec) {
    job_.StartAll();
    sessions_ = job_.OpenAll();
    training_ =
        std::make_unique<TestTraining>(Addresses(sessions_), std::vector<TestTraining::Tensor>{{"w", kElements}});
    training_->Init();
    training_->PushPullRound();
    waiting_ = training_->StartRound(/*skipped=*/1);
  }

  // All that wait get this.
  template <typename Matcher>
  void ExpectWaitingFail(const Matcher& message) {
    for (Ticket& ticket : waiting_) {
      const absl::Status status = ticket.Wait(kPatience);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("key w, round 2"), message));
    }
  }

  // So do those that come later, and the daemons that are left stop as if nothing had been.
  void ExpectLaterCallsFail() {
    for (const std::unique_ptr<Session>& session : sessions_) ExpectUnavailable(*session, "w", kElements);
    job_.StopAll();
  }

  template <typename Matcher>
  void ExpectAllFail(const Matcher& message) {
    ExpectWaitingFail(message);
    ExpectLaterCallsFail();
  }

  JobFixture job_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unique_ptr<TestTraining> training_;
  std::vector<Ticket> waiting_;
};

TEST_F(FaultsTest, AKilledNodeIsNamed) {
  JobFixture::Kill(job_.node(2));
  ExpectAllFail(HasSubstr("n3"));
}

TEST_F(FaultsTest, AStoppedProcessIsNamed) {
  job_.node(2).Signal(SIGSTOP);
  ExpectWaitingFail(HasSubstr("n3"));
  job_.node(2).Signal(SIGCONT);
  ExpectLaterCallsFail();
}

TEST_F(FaultsTest, AKilledSchedulerIsNamed) {
  JobFixture::Kill(job_.scheduler());
  ExpectAllFail(HasSubstr("nothing heard from the scheduler at " + job_.scheduler_address()));
}

TEST_F(FaultsTest, ANodeThatIsAskedToStopIsNamed) {
  job_.node(2).Signal(SIGTERM);
  EXPECT_TRUE(job_.node(2).WaitUntilEnded(kPatience));
  EXPECT_EQ(job_.node(2).failure(), "");
  ExpectAllFail(HasSubstr("n3"));
}

TEST_F(FaultsTest, ASessionThatClosesInTheMiddleOfARoundIsNamed) {
  sessions_.pop_back();
  ExpectAllFail(HasSubstr("n3"));
}

TEST(NodeRestartTest, ANodeThatComesBackIsRefusedAndTheJobStaysFailed) {
  JobFixture job(ImpatientJob());
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 10}});
  training.Init();
  std::vector<Ticket> waiting = training.StartRound(/*skipped=*/1);
  JobFixture::Kill(job.node(2));
  job.StartNode(2);
  EXPECT_TRUE(job.node(2).WaitUntilEnded(kPatience));
  EXPECT_EQ(job.node(2).failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("n3"), HasSubstr("restart the job"));
  for (Ticket& ticket : waiting) EXPECT_THAT(ticket.Wait(kPatience).ToString(), HasSubstr("n3"));
  EXPECT_THAT(job.StatusJson(), HasSubstr("\"state\":\"failed\""));
  job.StopAll();
}

TEST(BusyJobTest, ANodeThatDiesAmongManyRoundsIsNamed) {
  JobFixture job(ImpatientJob());
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 1}, {"b", 500000}});
  training.Init();
  training.PushPullRound();
  std::vector<Ticket> waiting = training.StartRound();
  JobFixture::Kill(job.node(0));
  absl::Status status;
  for (Ticket& ticket : waiting) status.Update(ticket.Wait(kPatience));
  // The round may have been quicker.
  if (status.ok()) status = training.TryRound();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("n1"));
  ExpectUnavailable(*sessions[1], "b", 500000);
  job.StopAll();
}

TEST(WorkerDeathTest, AKilledWorkerIsNamed) {
  JobFixture job(ImpatientJob());
  job.StartAll();
  const std::unique_ptr<ChildProcess> victim = job.StartWorkerProcess(1, 0);
  const std::unique_ptr<ChildProcess> other = job.StartWorkerProcess(2, 0);
  const std::unique_ptr<Session> session = job.Open(0);
  std::vector<float> values(1000, 1.0f);
  ASSERT_EQ(session->Init("w", values).Wait(kPatience), absl::OkStatus());
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(session->PushPull("w", values, absl::MakeSpan(values)).Wait(kPatience), absl::OkStatus());
    EXPECT_EQ(values[0], 1.0f);
  }
  JobFixture::Kill(*victim);
  absl::Status status;
  while (status.ok()) status = session->PushPull("w", values, absl::MakeSpan(values)).Wait(kPatience);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker 0 of n2"));
  ExpectUnavailable(*session, "w", values.size());
  EXPECT_TRUE(other->WaitUntilEnded(kPatience));
  EXPECT_THAT(job.LogOf("worker-n3-0"), HasSubstr("worker 0 of n2"));
  job.StopAll();
}

}  // namespace
}  // namespace banyan
