#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/supervision/supervised_process.h"

namespace banyan {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr absl::Duration kAtOnce = absl::Milliseconds(10);

// Fails until one failure is missing.
void FailAlmostTooOften(RestartBudget& budget) {
  absl::Duration pause = RestartBudget::kFirstPause;
  for (int i = 1; i < RestartBudget::kMostFailures; ++i) {
    EXPECT_THAT(budget.OnFailure(kAtOnce, false), Optional(pause));
    pause *= 2;
  }
}

TEST(RestartBudgetTest, WhoFailsAgainAndAgainAtOnceIsGivenUp) {
  RestartBudget budget;
  FailAlmostTooOften(budget);
  EXPECT_THAT(budget.OnFailure(kAtOnce, false), Eq(std::nullopt));
  EXPECT_EQ(budget.failures_in_a_row(), RestartBudget::kMostFailures);
}

TEST(RestartBudgetTest, ALongLifeBeginsTheCountAnew) {
  RestartBudget budget;
  FailAlmostTooOften(budget);
  EXPECT_THAT(budget.OnFailure(RestartBudget::kShortLife, false), Optional(RestartBudget::kFirstPause));
  EXPECT_EQ(budget.failures_in_a_row(), 1);
}

TEST(RestartBudgetTest, WhoIsKilledHasNotFailed) {
  RestartBudget budget;
  for (int i = 0; i < 100; ++i) EXPECT_THAT(budget.OnFailure(kAtOnce, true), Optional(RestartBudget::kFirstPause));
  EXPECT_EQ(budget.failures_in_a_row(), 0);
}

TEST(RestartBudgetTest, ForgivenFailuresDoNotCount) {
  RestartBudget budget;
  FailAlmostTooOften(budget);
  budget.Forgive();
  EXPECT_THAT(budget.OnFailure(kAtOnce, false), Optional(RestartBudget::kFirstPause));
}

}  // namespace
}  // namespace banyan
