#include "topology/evaluation/travel_time.h"

#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

NetworkLink LinkWithLoss(double loss_fraction) {
  return {.from = NodeId(1),
          .to = NodeId(2),
          .throughput_bps = 5e9,
          .delay = absl::Milliseconds(70),
          .loss_fraction = loss_fraction};
}

TEST(TravelTimeTest, WithoutLossesItIsTheDelay) { EXPECT_DOUBLE_EQ(TravelSeconds(LinkWithLoss(0)), 0.07); }

TEST(TravelTimeTest, WithManyLossesEverythingWaitsForTheNextTransmission) {
  EXPECT_NEAR(TravelSeconds(LinkWithLoss(0.5)), 0.07 + 0.14, 1e-4);
}

// Two connections of 2.5 Gbit/s with a packet lost in every round trip, 30,000 packets: 1/e of a round trip.
TEST(TravelTimeTest, WithALossInEveryRoundTripAThirdOfItIsWaitedForOnAverage) {
  EXPECT_NEAR(TravelSeconds(LinkWithLoss(11584 / (2.5e9 * 0.14))), 0.07 + 0.14 / std::exp(1), 1e-9);
}

TEST(TravelTimeTest, WithFewLossesHardlyAnythingWaits) {
  NetworkLink link = LinkWithLoss(2e-4);
  link.throughput_bps = 1e6;
  EXPECT_NEAR(TravelSeconds(link), 0.07, 1e-3);
}

}  // namespace
}  // namespace banyan
