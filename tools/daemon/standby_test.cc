#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "protocol/testing/fake_leadership.h"
#include "tools/daemon/scheduler_setup.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

class StandbyTest : public testing::Test {
 protected:
  absl::Status Wait(std::deque<absl::Status> campaigns, const StandbyCheck& check = {}) {
    FakeLeadership leadership(std::move(campaigns));
    return WaitForLeadership(
        signals_, leadership,
        [this](LogLevel level, absl::string_view text) {
          log_.push_back(absl::StrCat(level == LogLevel::kWarning ? "warning: " : "", text));
        },
        check);
  }

  const StopSignals signals_;
  std::vector<std::string> log_;
};

TEST_F(StandbyTest, TellsEachLeaderOnce) {
  const absl::Status a = absl::AlreadyExistsError("a leads");
  const absl::Status b = absl::AlreadyExistsError("b leads");
  EXPECT_TRUE(Wait({a, a, b}).ok());
  EXPECT_THAT(log_, ElementsAre("standing by: a leads", "standing by: b leads", "this process leads now"));
}

TEST_F(StandbyTest, TellsOnceThatNobodyCanBeAsked) {
  EXPECT_TRUE(Wait({absl::UnavailableError("no answer in 1 ms"), absl::UnavailableError("no answer in 2 ms")}).ok());
  EXPECT_THAT(log_, ElementsAre("warning: standing by: no answer in 1 ms", "this process leads now"));
}

TEST_F(StandbyTest, GivesUpWhereTryingIsNoUse) {
  const absl::Status refused = absl::PermissionDeniedError("no");
  EXPECT_EQ(Wait({refused}), refused);
}

TEST_F(StandbyTest, WhoMayNotFollowTheLeaderDoesNotStandBy) {
  const absl::Status a = absl::AlreadyExistsError("a leads");
  const absl::Status other = absl::FailedPreconditionError("another file");
  int asked = 0;
  EXPECT_EQ(Wait({a, a},
                 [&]() -> absl::StatusOr<bool> {
                   ++asked;
                   return other;
                 }),
            other);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(Wait({a, a}, [&]() -> absl::StatusOr<bool> {
                ++asked;
                return true;
              }).ok());
  EXPECT_EQ(asked, 2);
}

TEST_F(StandbyTest, EndsWithASignal) {
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  EXPECT_TRUE(absl::IsCancelled(Wait({})));
}

}  // namespace
}  // namespace banyan
