#include "compression/control/fixed_controller.h"

#include <gtest/gtest.h>

#include <cmath>

namespace banyan {
namespace {

TEST(FixedControllerTest, NothingChangesIt) {
  FixedController controller({.ratio = 0.02});
  controller.Observe({.ratio = 0.02, .sent_bytes = 1000, .duration = absl::Seconds(100), .lost = true});
  EXPECT_EQ(controller.ratio(), 0.02);
}

TEST(FixedControllerTest, RatiosOutsideOfTheRangeAreRefused) {
  EXPECT_TRUE(FixedController::Check({.ratio = 1}).ok());
  for (double ratio : {0.0, -0.1, 1.01, std::nan("")}) EXPECT_FALSE(FixedController::Check({.ratio = ratio}).ok());
  EXPECT_EQ(FixedController::Check({.ratio = 2}).message(), "fixed.ratio: expected a number from 1e-06 to 1, got 2");
}

}  // namespace
}  // namespace banyan
