#include <cmath>

#include "gtest/gtest.h"
#include "topology/evaluation/round_time.h"

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

// Of ten links the latest waits as one does that loses ten times as often.
TEST(TravelTimeTest, WhoWaitsForMoreWaitsForTheLatest) {
  EXPECT_DOUBLE_EQ(TravelSeconds(LinkWithLoss(1e-6), 10), TravelSeconds(LinkWithLoss(1e-5)));
  EXPECT_DOUBLE_EQ(TravelSeconds(LinkWithLoss(0), 10), 0.07);
}

TEST(TravelTimeTest, NoMoreIsLostThanWasSent) {
  NetworkLink slow = LinkWithLoss(1e-5);
  slow.throughput_bps = 1e6;
  EXPECT_DOUBLE_EQ(TravelSeconds(LinkWithLoss(1e-5), 1, 1e6 * 0.14), TravelSeconds(slow));
}

TEST(TravelTimeTest, WithFewLossesHardlyAnythingWaits) {
  NetworkLink link = LinkWithLoss(2e-4);
  link.throughput_bps = 1e6;
  EXPECT_NEAR(TravelSeconds(link), 0.07, 1e-3);
}

}  // namespace
}  // namespace banyan
