#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/link_schedule.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NetworkView TwoNodes() {
  return *NetworkView::Create({{NodeId(1), "a", {}, {}}, {NodeId(2), "b", {}, {}}},
                              {{NodeId(1), NodeId(2), 1e6, {}, 0, LinkSource::kBelieved}});
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseCrossTraffic(text, "w.yaml", TwoNodes()).status().message());
}

TEST(CrossTrafficTest, BurstsComeAgainAndAgain) {
  const CrossTraffic traffic = {NodeId(1), NodeId(2), 1e6, absl::Seconds(2), absl::Seconds(3), absl::Seconds(10)};
  for (const double on : {10.0, 11.9, 15.0, 16.5, 1010.0}) EXPECT_TRUE(IsOn(traffic, absl::Seconds(on))) << on;
  for (const double off : {0.0, 9.9, 12.0, 14.9, 1012.0}) EXPECT_FALSE(IsOn(traffic, absl::Seconds(off))) << off;
  EXPECT_EQ(NextBurst(traffic, absl::ZeroDuration()), absl::Seconds(10));
  EXPECT_EQ(NextBurst(traffic, absl::Seconds(10)), absl::Seconds(15));
  EXPECT_EQ(NextBurst(traffic, absl::Seconds(14.5)), absl::Seconds(15));
}

TEST(CrossTrafficTest, WithoutPausesItIsAlwaysOn) {
  const CrossTraffic traffic = {NodeId(1), NodeId(2), 1e6, absl::Seconds(2), {}, {}};
  for (const double on : {0.0, 1.9, 2.0, 1000.5}) EXPECT_TRUE(IsOn(traffic, absl::Seconds(on))) << on;
}

TEST(CrossTrafficTest, AFileListsIt) {
  const auto traffic = ParseCrossTraffic(
      "traffic:\n- {from: a, to: b, mbps: 0.5, on_seconds: 2, off_seconds: 3}\n"
      "- {from: a, to: b, mbps: 1, on_seconds: 1, off_seconds: 0, first_at_seconds: 7}\n",
      "w.yaml", TwoNodes());
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_THAT(*traffic, ElementsAre(CrossTraffic{NodeId(1), NodeId(2), 5e5, absl::Seconds(2), absl::Seconds(3), {}},
                                    CrossTraffic{NodeId(1), NodeId(2), 1e6, absl::Seconds(1), {}, absl::Seconds(7)}));
}

TEST(CrossTrafficTest, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT(ErrorOf("traffic: 3\n"), HasSubstr("w.yaml:1:10: traffic: expected a list"));
  EXPECT_THAT(ErrorOf("traffic:\n- {from: b, to: a, mbps: 1, on_seconds: 1, off_seconds: 1}\n"),
              HasSubstr("no link from b to a"));
  EXPECT_THAT(ErrorOf("traffic:\n- {from: a, to: b, mbps: 1, on_seconds: 0, off_seconds: 1}\n"),
              HasSubstr("traffic[0].on_seconds"));
  EXPECT_THAT(ErrorOf("traffic:\n- {from: a, to: b, mbps: 1, on_seconds: 1}\n"), HasSubstr("off_seconds"));
  EXPECT_EQ(LoadCrossTraffic("no/such.yaml", TwoNodes()).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace banyan
