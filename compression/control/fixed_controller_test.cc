#include "compression/control/fixed_controller.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(FixedControllerTest, NothingChangesIt) {
  FixedController controller({.ratio = 0.02});
  controller.Observe({.ratio = 0.02, .sent_bytes = 1000, .duration = absl::Seconds(100), .lost = true});
  EXPECT_EQ(controller.ratio(), 0.02);
}

}  // namespace
}  // namespace banyan
