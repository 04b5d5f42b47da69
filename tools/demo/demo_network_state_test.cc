#include "tools/demo/demo_network_state.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::Optional;
using ::testing::SizeIs;

JobStatus Status(uint64_t policy, double mbps) {
  JobStatus status;
  status.policy = policy;
  status.links.resize(2);
  status.links[0].from = status.links[1].to = "n1";
  status.links[0].to = status.links[1].from = "n2";
  status.links[0].mbps = mbps;
  status.links[0].age_s = 1;
  status.links[0].traffic.sent_bytes = 1000;
  status.links[1].mbps = 20;
  status.links[1].traffic.sent_bytes = 500;
  return status;
}

WanStatus Wan(double mbps) {
  WanStatus wan;
  wan.links.resize(2);
  wan.links[0].from = wan.links[1].to = "n1";
  wan.links[0].to = wan.links[1].from = "n2";
  wan.links[0].mbps = mbps;
  wan.links[1].mbps = 50;
  return wan;
}

TEST(DemoNetworkStateTest, KnowsNothingAtFirst) {
  const DemoNetworkState state;
  EXPECT_THAT(state.links(), SizeIs(0));
  EXPECT_EQ(state.wire_bytes(), 0u);
  EXPECT_FALSE(state.is_wan());
  EXPECT_FALSE(state.links_known().has_value());
}

TEST(DemoNetworkStateTest, PutsTheEmulatedRateBesideTheMeasuredOne) {
  DemoNetworkState state;
  state.Add(Status(1, 95), absl::Seconds(1));
  EXPECT_FALSE(state.links()[0].wan_mbps.has_value());
  state.Add(Wan(100), absl::Seconds(1));
  ASSERT_THAT(state.links(), SizeIs(2));
  EXPECT_TRUE(state.links()[0].is_measured);
  EXPECT_DOUBLE_EQ(state.links()[0].mbps, 95);
  EXPECT_THAT(state.links()[0].wan_mbps, Optional(100.0));
  EXPECT_FALSE(state.links()[1].is_measured);
  EXPECT_EQ(state.wire_bytes(), 1500u);
  EXPECT_THAT(state.links_known(), Optional(1));
}

TEST(DemoNetworkStateTest, SeesWhenRatesAndPoliciesChange) {
  DemoNetworkState state;
  state.Add(Wan(100), absl::Seconds(1));
  state.Add(Wan(100), absl::Seconds(2));
  EXPECT_EQ(state.rate_changes(), 0);
  state.Add(Wan(30), absl::Seconds(3));
  state.Add(Wan(30), absl::Seconds(4));
  EXPECT_EQ(state.rate_changes(), 1);
  EXPECT_EQ(state.rates_since(), absl::Seconds(3));
  state.Add(Status(1, 95), absl::Seconds(5));
  state.Add(Status(2, 95), absl::Seconds(6));
  state.Add(Status(2, 30), absl::Seconds(7));
  EXPECT_EQ(state.policy_since(), absl::Seconds(6));
  EXPECT_EQ(state.status().policy, 2u);
}

}  // namespace
}  // namespace banyan
