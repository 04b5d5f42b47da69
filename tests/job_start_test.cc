// Starting and stopping: in any order, with what is wrong named, and with nothing left behind.
#include <signal.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

void Train(const JobFixture& job) {
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 1000}});
  training.Init();
  for (int round = 1; round <= 3; ++round) training.PushPullRound();
}

TEST(JobStartTest, NodesMayComeBeforeAndAfterTheSchedulerInAnyOrder) {
  JobSpec spec;
  spec.nodes = 9;
  JobFixture job(spec);
  for (const size_t node : {7, 1, 4}) job.StartNode(node);
  job.StartScheduler();
  for (const size_t node : {8, 0, 2, 5}) job.StartNode(node);
  job.WaitForLog("scheduler", "waiting for n4, n7\n");
  job.WaitForLog("n2", "7 of 9 nodes, waiting for n4, n7");
  EXPECT_THAT(job.StatusJson(),
              AllOf(HasSubstr("\"state\":\"waiting\""), HasSubstr("\"waiting_for\":[\"n4\",\"n7\"]")));
  job.StartNode(6);
  job.WaitForLog("scheduler", "waiting for n4\n");
  EXPECT_THAT(job.LogOf("scheduler"), Not(HasSubstr("all 9 nodes joined")));
  job.StartNode(3);
  Train(job);
  EXPECT_THAT(job.LogOf("scheduler"), HasSubstr("all 9 nodes joined"));
  job.StopAll();
}

TEST(JobStartTest, WorkersMayComeBeforeTheirNodeAndTheScheduler) {
  JobSpec spec;
  spec.nodes = 2;
  JobFixture job(spec);
  const std::unique_ptr<ChildProcess> one = job.StartWorkerProcess(0, 0);
  job.StartNode(0);
  job.StartNode(1);
  const std::unique_ptr<ChildProcess> other = job.StartWorkerProcess(1, 0);
  job.StartScheduler();
  job.WaitForLog("worker-n1-0", "round 3\n");
  job.StopAll();
  for (ChildProcess* worker : {one.get(), other.get()}) {
    EXPECT_TRUE(worker->WaitUntilEnded(kPatience));
    EXPECT_EQ(worker->failure(), "exit code 1");
  }
  EXPECT_THAT(job.LogOf("worker-n1-0"), HasSubstr("UNAVAILABLE"));
}

TEST(JobStartTest, ANodeThatDiesBeforeTheStartMayComeAgain) {
  JobFixture job(JobSpec{});
  job.StartScheduler();
  job.StartNode(0);
  job.StartNode(1);
  job.WaitForLog("scheduler", "waiting for n3\n");
  JobFixture::Kill(job.node(1));
  job.StartNode(1);
  job.WaitForLog("n2", "has joined");
  job.StartNode(2);
  Train(job);
  job.StopAll();
}

TEST(JobStartTest, ASecondNodeOfTheSameNameIsRefused) {
  JobFixture job(JobSpec{});
  job.StartAll();
  job.WaitForLog("n2", "has joined");
  const std::unique_ptr<ChildProcess> second =
      job.StartCommand("second", {"node", "--name", "n2", "--scheduler", job.scheduler_address()});
  EXPECT_TRUE(second->WaitUntilEnded(kPatience));
  EXPECT_EQ(second->failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("second"), HasSubstr("node 'n2' has joined from " + job.AddressOf(1) + " and is alive"));
  Train(job);
  job.StopAll();
}

TEST(JobStartTest, ANodeThatTheOverlayDoesNotKnowIsRefused) {
  JobFixture job(JobSpec{});
  job.StartScheduler();
  const std::unique_ptr<ChildProcess> stranger =
      job.StartCommand("stranger", {"node", "--name", "n33", "--scheduler", job.scheduler_address()});
  EXPECT_TRUE(stranger->WaitUntilEnded(kPatience));
  EXPECT_EQ(stranger->failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("stranger"), HasSubstr("has no node named 'n33'"));
  job.StopAll();
}

TEST(JobStartTest, ANodeOfAnotherJobIsRefused) {
  JobFixture job(JobSpec{});
  job.StartScheduler();
  job.StartNode(0, {"--job", "other"});
  EXPECT_TRUE(job.node(0).WaitUntilEnded(kPatience));
  EXPECT_EQ(job.node(0).failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("n1"), HasSubstr("this scheduler runs job 'test', and the node wants 'other'"));
  job.StopAll();
}

TEST(JobStartTest, ANodeThatNobodyReachesIsNamedBeforeAnybodyTrains) {
  const absl::StatusOr<PortReservation> closed = PortReservation::Take(1);
  ASSERT_TRUE(closed.ok()) << closed.status();
  JobFixture job(JobSpec{});
  job.StartScheduler();
  job.StartNode(0, {"--advertise", closed->Address(0)});
  job.StartNode(1);
  job.StartNode(2);
  const std::string reason = absl::StrCat("it cannot be reached at ", closed->Address(0), ": Connection refused");
  job.WaitForLog("scheduler", absl::StrCat("n2 has lost its neighbour n1: ", reason));
  job.WaitForLog("scheduler", absl::StrCat("n3 has lost its neighbour n1: ", reason));
  job.WaitForLog("scheduler", " waits, since there is no plan for its members");
  EXPECT_THAT(job.StatusJson(), HasSubstr(reason));
  job.StopAll();
}

TEST(JobStartTest, APortThatIsTakenIsNamed) {
  JobFixture job(JobSpec{});
  job.StartScheduler();
  job.WaitForLog("scheduler", "listening on");
  const std::unique_ptr<ChildProcess> second = job.StartCommand(
      "second", {"node", "--name", "n1", "--scheduler", job.scheduler_address(), "--listen", job.scheduler_address()});
  EXPECT_TRUE(second->WaitUntilEnded(kPatience));
  EXPECT_EQ(second->failure(), "exit code 1");
  EXPECT_THAT(job.LogOf("second"), HasSubstr("the port is taken"));
  job.StopAll();
}

TEST(JobStartTest, TwoJobsRunSideBySide) {
  JobFixture one(JobSpec{});
  JobFixture other(JobSpec{});
  one.StartAll();
  other.StartAll();
  Train(one);
  Train(other);
  one.StopAll();
  other.StopAll();
}

class StopTest : public testing::TestWithParam<int> {};

TEST_P(StopTest, StopsAllDaemonsInTheMiddleOfARound) {
  JobFixture job(JobSpec{});
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 1000}});
  training.Init();
  std::vector<Ticket> waiting = training.StartRound(/*skipped=*/1);
  job.StopAll(GetParam());
  for (Ticket& ticket : waiting) EXPECT_EQ(ticket.Wait(kPatience).code(), absl::StatusCode::kUnavailable);
  for (size_t node = 0; node < job.nodes(); ++node) EXPECT_FALSE(Exists(job.SocketPathOf(node)));
}

TEST_P(StopTest, StopsANodeThatNeverFoundItsScheduler) {
  JobFixture job(JobSpec{});
  job.StartNode(0);
  job.WaitForLog("n1", "listening on");
  job.StopAll(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Signals, StopTest, testing::Values(SIGTERM, SIGINT),
                         [](const auto& info) { return info.param == SIGTERM ? "Terminate" : "Interrupt"; });

TEST(JobStartTest, AJobEndsWhenAllWorkersHaveGone) {
  JobFixture job(JobSpec{});
  job.StartAll();
  Train(job);
  job.WaitForLog("scheduler", "all nodes have left: the job is done");
  job.StopAll();
}

}  // namespace
}  // namespace banyan
