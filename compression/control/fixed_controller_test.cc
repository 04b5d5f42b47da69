#include <gtest/gtest.h>

#include "compression/control/ratio_controller.h"

namespace banyan {
namespace {

TEST(FixedControllerTest, NothingChangesIt) {
  FixedController controller({.ratio = 0.02});
  controller.Observe({.ratio = 0.02, .sent_bytes = 1000, .duration = absl::Seconds(100), .lost = true});
  EXPECT_EQ(controller.ratio(), 0.02);
}

}  // namespace
}  // namespace banyan
