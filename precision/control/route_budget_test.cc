#include <gtest/gtest.h>

#include "core/random.h"
#include "precision/control/supervisor.h"

namespace banyan {
namespace {

TEST(RouteBudgetTest, TheShareNeverGoesBeyondTargetAndBand) {
  Random random(1);
  for (int run = 0; run < 200; ++run) {
    const double target = random.Unit();
    const double band = 0.1 * random.Unit();
    RouteBudget budget(target, band, random.Between(1, 10));
    for (int round = 0; round < 300; ++round) {
      const bool low_bit = round > 20 && random.Chance(0.9) && budget.Allows();
      budget.Count(low_bit);
      ASSERT_LE(budget.share(), target + band + 1e-12);
    }
  }
}

TEST(RouteBudgetTest, ComesCloseToItsTarget) {
  RouteBudget budget(0.25, 0, 1);
  for (int round = 0; round < 1000; ++round) budget.Count(budget.Allows());
  EXPECT_NEAR(budget.share(), 0.25, 0.002);
}

TEST(RouteBudgetTest, AVetoLastsForTheInterval) {
  RouteBudget budget(0, 0, 3);
  for (int round = 0; round < 6; ++round) {
    EXPECT_FALSE(budget.Allows());
    budget.Count(false);
  }
  EXPECT_EQ(budget.guard_events(), 2);
}

}  // namespace
}  // namespace banyan
