// What workers push that is no finite number, or too large for halves, through real daemons: the result is as the
// configuration says, the same everywhere, and whoever looks finds node and key.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr size_t kElements = 5000;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class NumbersTest : public testing::Test {
 protected:
  void Start(const std::string& more) {
    JobSpec spec;
    spec.more = more;
    job_ = std::make_unique<JobFixture>(spec);
    job_->StartAll();
    sessions_ = job_->OpenAll();
    std::vector<Ticket> tickets;
    for (auto& session : sessions_) tickets.push_back(session->Init("w", std::vector<float>(kElements)));
    for (Ticket& ticket : tickets) ASSERT_TRUE(ticket.Wait(kPatience).ok());
    results_.assign(sessions_.size(), std::vector<float>(kElements));
  }

  // Each node's worker pushes its value, and the `odd` one also NaN in one place. Returns the errors.
  std::vector<absl::Status> RunRound(const std::vector<float>& values, size_t odd) {
    std::vector<Ticket> tickets;
    for (size_t node = 0; node < sessions_.size(); ++node) {
      std::vector<float> gradient(kElements, values[node]);
      if (node == odd) gradient[77] = kNaN;
      tickets.push_back(sessions_[node]->PushPull("w", gradient, absl::MakeSpan(results_[node])));
    }
    std::vector<absl::Status> statuses;
    for (Ticket& ticket : tickets) statuses.push_back(ticket.Wait(kPatience));
    return statuses;
  }

  std::unique_ptr<JobFixture> job_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::vector<float>> results_;
};

TEST_F(NumbersTest, AGradientThatIsNotFiniteIsLeftOutAndNamed) {
  Start("aggregation: {not_finite: skip}\ncompression: {codec: fp16}\n");
  EXPECT_THAT(RunRound({10000, 20000, 60000}, /*odd=*/3), Each(absl::OkStatus()));
  EXPECT_THAT(results_, Each(Each(30000)));
  EXPECT_THAT(RunRound({10000, 1, 60000}, /*odd=*/1), Each(absl::OkStatus()));
  // As far as halves go.
  EXPECT_THAT(results_, Each(Each(35008)));
  job_->WaitForLog("n2", "key 'w' round 2: worker 0 pushed NaN or infinity in 1 of 5000 values, and has no part");
  std::string status;
  const absl::Time end = absl::Now() + kPatience;
  while (status.find(R"("not_finite":[{"key":"w","values":1,"last_round":2}])") == std::string::npos) {
    ASSERT_LT(absl::Now(), end) << status;
    absl::SleepFor(absl::Milliseconds(100));
    status = job_->StatusJson();
  }
  EXPECT_THAT(RunRound({1, 2, 3}, /*odd=*/3), Each(absl::OkStatus()));
  EXPECT_THAT(results_, Each(Each(2)));
  sessions_.clear();
  job_->StopAll();
}

TEST_F(NumbersTest, AJobMayEndWithOneThatIsNotFinite) {
  Start("aggregation: {not_finite: fail}\n");
  for (const absl::Status& status : RunRound({1, 2, 3}, /*odd=*/1)) {
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("n2"), HasSubstr("key 'w'"), HasSubstr("round 1"),
                                                     HasSubstr("pushed NaN or infinity in 1 of 5000 values")));
  }
}

TEST_F(NumbersTest, AnInitWithoutValuesWhereOthersHaveSomeIsToldToAll) {
  Start("");
  std::vector<Ticket> tickets;
  const std::vector<float> ten(10);
  for (size_t node : {0, 1}) tickets.push_back(sessions_[node]->Init("v", ten));
  tickets.push_back(sessions_[2]->Init("v", {}));
  for (Ticket& ticket : tickets) {
    const absl::Status status = ticket.Wait(kPatience);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("key v"));
  }
  // Whichever came first.
  EXPECT_THAT(std::string(tickets[0].Wait().message()),
              AllOf(HasSubstr("n3 g"), HasSubstr("'v' with 0 elements"), HasSubstr("10 elements")));
}

}  // namespace
}  // namespace banyan
