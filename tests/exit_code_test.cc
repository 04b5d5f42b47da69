// How daemons end with their job: supervisors tell a job that is done, failed or stopped from a daemon that was asked
// to end.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kOver[] = "nothing is left to do";

JobSpec Ending() {
  JobSpec spec;
  spec.nodes = 2;
  spec.stays = false;
  spec.keeps_state = true;
  return spec;
}

void Train(JobFixture& job) {
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 100}});
  training.Init();
  training.PushPullRound();
}

void ExpectEnd(JobFixture& job, const std::string& failure) {
  for (size_t node = 0; node < job.nodes(); ++node) {
    EXPECT_TRUE(job.node(node).WaitUntilEnded(kPatience)) << node;
    EXPECT_EQ(job.node(node).failure(), failure) << job.LogOf(absl::StrCat("n", node + 1));
  }
  EXPECT_TRUE(job.scheduler().WaitUntilEnded(kPatience));
  EXPECT_EQ(job.scheduler().failure(), failure) << job.LogOf("scheduler");
}

TEST(ExitCodeTest, AllEndWithZeroWhenTheJobIsDone) {
  JobFixture job(Ending());
  job.StartAll();
  Train(job);
  job.WaitForLog("scheduler", "the job is done");
  ExpectEnd(job, "");
  // A supervisor that starts everything again gets no loop, and no other job.
  job.StartScheduler();
  job.StartNode(0);
  EXPECT_TRUE(job.node(0).WaitUntilEnded(kPatience)) << "it hears that the job is over";
  EXPECT_TRUE(job.scheduler().WaitUntilEnded(kPatience));
  EXPECT_EQ(job.scheduler().failure(), "exit code 3");
  EXPECT_THAT(job.LogOf("scheduler"), HasSubstr(kOver));
  // Another one is asked for.
  job.StartScheduler(0, {"--another"});
  for (size_t node = 0; node < job.nodes(); ++node) job.StartNode(node);
  Train(job);
  ExpectEnd(job, "");
}

TEST(ExitCodeTest, AnOperatorsStopIsNoFailure) {
  JobFixture job(Ending());
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 100}});
  training.Init();
  std::vector<Ticket> waiting = training.StartRound(/*skipped=*/1);
  const std::unique_ptr<ChildProcess> stop = job.StartCommand("stop", {"stop", "--scheduler", job.scheduler_address()});
  EXPECT_TRUE(stop->WaitUntilEnded(kPatience));
  EXPECT_EQ(stop->failure(), "") << job.LogOf("stop");
  for (Ticket& ticket : waiting) {
    EXPECT_THAT(std::string(ticket.Wait(kPatience).message()), HasSubstr("stopped by an operator"));
  }
  ExpectEnd(job, "");
  job.StartScheduler();
  EXPECT_TRUE(job.scheduler().WaitUntilEnded(kPatience));
  EXPECT_EQ(job.scheduler().failure(), "exit code 3");
  EXPECT_THAT(job.LogOf("scheduler"), HasSubstr(kOver));
}

TEST(ExitCodeTest, AFailureIsToldAndTheNextStartBeginsAnother) {
  JobSpec spec = Ending();
  spec.more = "aggregation: {not_finite: fail}\n";
  JobFixture job(spec);
  job.StartAll();
  {
    const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
    TestTraining training(Addresses(sessions), {{"a", 100}});
    training.Init();
    const std::vector<float> torn(100, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> result(100);
    EXPECT_FALSE(sessions[0]->PushPull("a", torn, result).Wait(kPatience).ok());
  }
  ExpectEnd(job, "exit code 5");
  job.StartAll();
  Train(job);
  ExpectEnd(job, "");
}

TEST(ExitCodeTest, WhoIsAskedToEndSaysSo) {
  JobFixture job(Ending());
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 100}});
  training.Init();
  job.StopAll(SIGHUP);
}

}  // namespace
}  // namespace banyan
