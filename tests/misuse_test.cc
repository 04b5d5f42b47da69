// Workers that call what makes no sense get an error that says so, and the job goes on.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

class MisuseTest : public testing::Test {
 protected:
  MisuseTest() : job_(JobSpec{}) {
    job_.StartAll();
    sessions_ = job_.OpenAll();
    training_ = std::make_unique<TestTraining>(Addresses(sessions_), std::vector<TestTraining::Tensor>{{"w", 100}});
    training_->Init();
  }

  void ExpectJobGoesOn() {
    for (int round = 0; round < 3; ++round) training_->PushPullRound();
    job_.StopAll();
  }

  JobFixture job_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unique_ptr<TestTraining> training_;
};

TEST_F(MisuseTest, AWrongShapeIsNamed) {
  std::vector<float> values(99);
  const absl::Status pushed = sessions_[0]->Push("w", values).Wait(kPatience);
  EXPECT_EQ(pushed.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(pushed.message()), AllOf(HasSubstr("w"), HasSubstr("100"), HasSubstr("99")));
  EXPECT_EQ(sessions_[0]->Pull("w", absl::MakeSpan(values)).Wait(kPatience).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(sessions_[1]->Init("w", values).Wait(kPatience).code(), absl::StatusCode::kInvalidArgument);
  ExpectJobGoesOn();
}

TEST_F(MisuseTest, APushBeforeInitIsNamed) {
  std::vector<float> values(5);
  const absl::Status status = sessions_[1]->PushPull("never", values, absl::MakeSpan(values)).Wait(kPatience);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("never"), HasSubstr("Init")));
  EXPECT_EQ(sessions_[1]->Push("never", values).Wait(kPatience).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(sessions_[1]->Pull("never", absl::MakeSpan(values)).Wait(kPatience).code(),
            absl::StatusCode::kFailedPrecondition);
  ExpectJobGoesOn();
}

TEST_F(MisuseTest, ASecondInitIsNamed) {
  std::vector<float> values(100);
  EXPECT_EQ(sessions_[2]->Init("w", values).Wait(kPatience).code(), absl::StatusCode::kAlreadyExists);
  ExpectJobGoesOn();
}

TEST_F(MisuseTest, NodesThatDisagreeOnAShapeAreToldWhich) {
  std::vector<float> ten(10);
  std::vector<float> eleven(11);
  std::vector<Ticket> tickets;
  tickets.push_back(sessions_[0]->Init("v", ten));
  tickets.push_back(sessions_[1]->Init("v", ten));
  tickets.push_back(sessions_[2]->Init("v", eleven));
  // Who comes first is right, whichever it is; the others wait for ever.
  absl::Status refused;
  for (size_t i = 0; refused.code() != absl::StatusCode::kInvalidArgument; i = (i + 1) % tickets.size()) {
    refused = tickets[i].Wait(absl::Milliseconds(10));
  }
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr("key v"), HasSubstr("10"), HasSubstr("11")));
  ExpectJobGoesOn();
}

// Nothing waits, and each round of "a" sums gradients of different steps.
TEST(DoublePushTest, AKeyThatOneSitePushesTwiceInAStepIsNamed) {
  constexpr int kSteps = 60;
  constexpr int kTwice = 20;
  JobFixture job(JobSpec{});
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"a", 10}, {"b", 10}});
  training.Init();
  const auto train = [](Session& session, bool pushes_twice) {
    const std::vector<float> gradient(10, 1);
    std::vector<float> a(10);
    std::vector<float> b(10);
    for (int step = 0; step < kSteps; ++step) {
      const int pushes = pushes_twice && step == kTwice ? 2 : 1;
      for (int i = 0; i < pushes; ++i) EXPECT_TRUE(session.Push("a", gradient).Wait(kPatience).ok());
      EXPECT_TRUE(session.Push("b", gradient).Wait(kPatience).ok());
      EXPECT_TRUE(session.Pull("b", b).Wait(kPatience).ok());
      // The others will not push its last one.
      const bool is_last = pushes_twice && step + 1 == kSteps;
      EXPECT_TRUE(is_last || session.Pull("a", a).Wait(kPatience).ok());
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sessions.size(); ++i) {
    threads.emplace_back([&, i] { train(*sessions[i], /*pushes_twice=*/i == 2); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string named = "worker 0 of n3 runs ahead with key 'a': it pushes round ";
  job.WaitForLog("scheduler", named);
  EXPECT_THAT(job.StatusJson(), HasSubstr(named));
  std::vector<float> gradient(10, 1);
  // It ends with the job.
  Ticket late = sessions[2]->PushPull("b", gradient, gradient);
  EXPECT_THAT(std::string(late.Wait(absl::Seconds(3)).message()), HasSubstr(named));
  job.StopAll();
}

TEST(RoomTest, APushWithoutRoomNamesWhoHoldsItUp) {
  JobFixture job(JobSpec{});
  job.StartAll();
  SessionOptions options;
  options.node = absl::StrCat("unix:", job.SocketPathOf(0));
  options.open_timeout = kPatience;
  options.room_timeout = absl::Seconds(3);
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(Require(Session::Open(options), "a session"));
  for (size_t node = 1; node < job.nodes(); ++node) sessions.push_back(job.Open(node, 0));
  TestTraining training(Addresses(sessions), {{"v", 10}});
  training.Init();
  const std::vector<float> values(10);
  ASSERT_TRUE(sessions[1]->Push("v", values).Wait(kPatience).ok());
  absl::Status late;
  while (late.ok()) late = sessions[0]->Push("v", values).Wait(kPatience);
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()),
              AllOf(HasSubstr("node n1, key v: no room for this call after 3s; it was not started: round 1 of key 'v' "
                              "waits "),
                    HasSubstr("s for worker 0 of n3 to push it")));
  job.StopAll();
}

TEST_F(MisuseTest, AWorkerThatIsAttachedAlreadyIsRefused) {
  SessionOptions options;
  options.node = "unix:" + job_.SocketPathOf(0);
  const absl::Status taken = Session::Open(options).status();
  EXPECT_EQ(taken.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(taken.message()), HasSubstr("worker 0"));
  options.worker = 1;
  const absl::Status unknown = Session::Open(options).status();
  EXPECT_FALSE(unknown.ok());
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("worker 1"));
  ExpectJobGoesOn();
}

}  // namespace
}  // namespace banyan
