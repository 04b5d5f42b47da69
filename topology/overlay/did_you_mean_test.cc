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

TEST(DidYouMeanTest, KnowsOtherCaseAndLeftOutUnits) {
  EXPECT_EQ(DidYouMean("LINKS", {"nodes", "links"}), "; did you mean 'links'?");
  EXPECT_EQ(DidYouMean("heartbeat", {"least", "heartbeat_seconds"}), "; did you mean 'heartbeat_seconds'?");
  EXPECT_EQ(DidYouMean("--log", {"--json", "--log-level"}), "; did you mean '--log-level'?");
  EXPECT_FALSE(IsClose("a", "a_b"));
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
