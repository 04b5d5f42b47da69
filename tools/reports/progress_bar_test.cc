#include "tools/reports/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace banyan {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProgressBarTest, AppearsAfterTwoSecondsAndGoesAway) {
  std::ostringstream out;
  {
    ProgressBar bar("simulating", /*is_terminal=*/true, out);
    bar.Update(0.1, absl::Seconds(1));
    EXPECT_EQ(out.str(), "");
    bar.Update(0.25, absl::Seconds(3));
    EXPECT_THAT(out.str(), HasSubstr("simulating [##########.............................."));
    EXPECT_THAT(out.str(), HasSubstr("25 %, about 9 s left"));
    const size_t length = out.str().size();
    bar.Update(0.3, absl::Seconds(3));
    EXPECT_EQ(out.str().size(), length);
  }
  EXPECT_THAT(out.str(), EndsWith(" \r"));
}

TEST(ProgressBarTest, StaysAwayFromFiles) {
  std::ostringstream out;
  {
    ProgressBar bar("simulating", /*is_terminal=*/false, out);
    bar.Update(0.5, absl::Seconds(30));
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace banyan
