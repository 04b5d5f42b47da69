#include "topology/overlay/did_you_mean.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(DidYouMeanTest, EditDistanceCountsSwapsAsOne) {
  EXPECT_EQ(EditDistance("links", "links"), 0u);
  EXPECT_EQ(EditDistance("lniks", "links"), 1u);
  EXPECT_EQ(EditDistance("link", "links"), 1u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
}

TEST(DidYouMeanTest, SuggestsTheClosest) {
  EXPECT_EQ(DidYouMean("lniks", {"nodes", "links"}), "; did you mean 'links'?");
}

TEST(DidYouMeanTest, ListsAFewWhenNothingIsClose) {
  EXPECT_EQ(DidYouMean("zzz", {"nodes", "links"}), "; known are nodes, links");
  EXPECT_EQ(DidYouMean("zzz", {}), "");
  EXPECT_EQ(DidYouMean("zzz", std::vector<std::string>(100, "nodes")), "");
}

TEST(DidYouMeanTest, DoesNotCompareVeryLongWords) {
  EXPECT_EQ(DidYouMean(std::string(100000, 'a'), {"nodes"}), "; known are nodes");
}

}  // namespace
}  // namespace banyan
