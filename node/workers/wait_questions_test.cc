#include "node/workers/wait_questions.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Two nodes with two workers each. The scheduler answers when the test says so.
class WaitQuestionsTest : public ::testing::Test {
 protected:
  WaitQuestionsTest() : cluster_(Config(), TestPlan::Star(2)) {
    cluster_.Start();
    for (uint32_t node : {1, 2}) {
      for (uint32_t worker : {0, 1}) cluster_.Attach(node, worker);
    }
  }
  static JobConfig Config() {
    JobConfig config;
    config.job = "job";
    config.workers = 2;
    return config;
  }
  void InitAll() {
    for (uint32_t node : {1, 2}) {
      for (uint32_t worker : {0, 1}) cluster_.Init(node, worker, "w", {1, 2});
    }
  }
  std::string AnswerTo(uint32_t worker, const std::string& name) {
    const absl::Status status = cluster_.StatusOf(cluster_.DescribeWait(1, worker, name));
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    return std::string(status.message());
  }
  std::vector<WaitQuestion> Asked() { return cluster_.scheduler().Said<WaitQuestion>(1); }

  TestCluster cluster_;
};

TEST_F(WaitQuestionsTest, NamesAWorkerOfTheSameNodeAtOnce) {
  cluster_.Init(1, 1, "w", {1, 2});
  cluster_.Advance(absl::Seconds(3));
  EXPECT_EQ(AnswerTo(1, "w"), "Init of key 'w' waits 3s for worker 0 of n1");
  cluster_.Barrier(1, 0);
  EXPECT_THAT(AnswerTo(0, ""), StartsWith("barrier 0 waits for worker 1 of n1"));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(WaitQuestionsTest, AsksTheSchedulerForWhomItWaitsElsewhere) {
  InitAll();
  for (uint32_t worker : {0, 1}) cluster_.Push(1, worker, KeyId(1), {1, 2});
  const RequestId question = cluster_.DescribeWait(1, 0, "w");
  const RequestId other = cluster_.DescribeWait(1, 1, "w");
  EXPECT_FALSE(cluster_.IsDone(question));
  EXPECT_THAT(Asked(), ElementsAre(WaitQuestion{KeyId(1), Round(1)})) << "once for both";
  cluster_.Inject(1, kSchedulerConnection, WaitAnswer{Term(7), KeyId(1), Round(1), "worker 0 of n2 to push it"});
  for (RequestId request : {question, other}) {
    EXPECT_EQ(cluster_.StatusOf(request).message(), "round 1 of key 'w' waits for worker 0 of n2 to push it");
  }
}

TEST_F(WaitQuestionsTest, ASchedulerThatDoesNotAnswerIsNamed) {
  InitAll();
  for (uint32_t worker : {0, 1}) cluster_.Push(1, worker, KeyId(1), {1, 2});
  const RequestId question = cluster_.DescribeWait(1, 0, "w");
  cluster_.Advance(absl::Seconds(2));
  EXPECT_THAT(std::string(cluster_.StatusOf(question).message()), HasSubstr("for the scheduler at "));
}

TEST_F(WaitQuestionsTest, AWorkerThatWaitsForNothingIsToldSo) {
  InitAll();
  EXPECT_TRUE(cluster_.StatusOf(cluster_.DescribeWait(1, 0, "w")).ok());
  EXPECT_TRUE(cluster_.StatusOf(cluster_.DescribeWait(1, 0, "v")).ok());
  // Whatever holds up the job as a whole.
  cluster_.DescribeWait(1, 0, "");
  EXPECT_THAT(Asked(), Contains(WaitQuestion{KeyId(), WaitQuestion::kJob}));
}

TEST_F(WaitQuestionsTest, ALongWaitIsLoggedAndAgainWhenItHasDoubled) {
  cluster_.Init(1, 1, "w", {1, 2});
  const auto lines = [this](const std::string& part) {
    return std::count_if(cluster_.logs().begin(), cluster_.logs().end(),
                         [&part](const LogLine& line) { return line.text.find(part) != std::string::npos; });
  };
  cluster_.Advance(WaitQuestions::kLong - absl::Seconds(1));
  EXPECT_EQ(lines("for worker 0 of n1"), 0);
  cluster_.Advance(absl::Seconds(2));
  EXPECT_EQ(lines("Init of key 'w' waits 10"), 1);
  EXPECT_EQ(lines("for worker 0 of n1"), 1);
  cluster_.Advance(WaitQuestions::kLong + absl::Seconds(1));
  EXPECT_EQ(lines("for worker 0 of n1"), 2);
  cluster_.Advance(WaitQuestions::kLong);
  EXPECT_EQ(lines("for worker 0 of n1"), 2);
}

TEST_F(WaitQuestionsTest, TheEndOfTheJobAnswersAll) {
  InitAll();
  for (uint32_t worker : {0, 1}) cluster_.Push(1, worker, KeyId(1), {1, 2});
  const RequestId question = cluster_.DescribeWait(1, 0, "w");
  cluster_.scheduler().SayToAll(JobFailed{Term(7), absl::StatusCode::kUnavailable, "n9 is gone"});
  cluster_.Run();
  EXPECT_EQ(cluster_.StatusOf(question).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
