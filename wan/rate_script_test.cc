#include "wan/rate_script.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

const std::vector<std::pair<NodeId, NodeId>> kLinks = {{NodeId(1), NodeId(2)}, {NodeId(2), NodeId(1)}};

LinkChange At(double seconds, double rate_bps) { return {absl::Seconds(seconds), NodeId(1), NodeId(2), rate_bps}; }

TEST(RateScriptTest, WithoutChangesNothingIsEverDue) {
  RateScript script({}, std::nullopt, kLinks);
  EXPECT_EQ(script.NextAt(), absl::InfiniteDuration());
  EXPECT_TRUE(script.Take(absl::Hours(1)).empty());
}

TEST(RateScriptTest, ListedChangesComeOnceWhenTheyAreDue) {
  RateScript script({At(1, 10), At(2, 20), At(2, 30)}, std::nullopt, kLinks);
  EXPECT_EQ(script.NextAt(), absl::Seconds(1));
  EXPECT_TRUE(script.Take(absl::Seconds(0.9)).empty());
  EXPECT_EQ(script.Take(absl::Seconds(1)), std::vector<LinkChange>({At(1, 10)}));
  EXPECT_EQ(script.Take(absl::Seconds(5)), std::vector<LinkChange>({At(2, 20), At(2, 30)}));
  EXPECT_EQ(script.NextAt(), absl::InfiniteDuration());
}

TEST(RateScriptTest, RedrawsAreThoseOfTheSimulator) {
  const LinkRedraw redraw = {absl::Seconds(3), 20e6, 155e6, 1, 7};
  RateScript script({At(4, 10)}, redraw, kLinks);
  EXPECT_EQ(script.NextAt(), absl::Seconds(3));
  std::vector<LinkChange> expected = DrawLinkChanges(redraw, 1, kLinks);
  expected.push_back(At(4, 10));
  for (const LinkChange& change : DrawLinkChanges(redraw, 2, kLinks)) expected.push_back(change);
  EXPECT_EQ(script.Take(absl::Seconds(6)), expected);
  EXPECT_EQ(script.NextAt(), absl::Seconds(9));
}

}  // namespace
}  // namespace banyan
