#include "node/trim/sent_share.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(SentShareTest, AllIsSentAsLongAsAllGoesThrough) {
  SentShare share = SentShare::OfResults();
  for (int round = 0; round < 10; ++round) share.Observe(1);
  EXPECT_EQ(share.share(), 1);
}

TEST(SentShareTest, WhereNothingCanBeCutNoMoreIsSentThanGoesThrough) {
  SentShare share = SentShare::OfResults();
  share.Observe(0.4);
  EXPECT_NEAR(share.share(), 0.4, 1e-9);
  share.Observe(0.5);
  EXPECT_NEAR(share.share(), 0.2, 1e-9);
}

TEST(SentShareTest, WhereQueuesCutTheyAreGivenALittleMore) {
  // The link carries four tenths, whatever is sent.
  SentShare share = SentShare::OfContributions();
  for (int round = 0; round < 10; ++round) share.Observe(std::min(1.0, 0.4 / share.share()));
  EXPECT_NEAR(share.share(), 0.5, 1e-9);
}

TEST(SentShareTest, AfterABurstAllIsSentAgain) {
  SentShare contributions = SentShare::OfContributions();
  SentShare results = SentShare::OfResults();
  for (SentShare* share : {&contributions, &results}) share->Observe(0.3);
  for (int round = 0; round < 3; ++round) {
    contributions.Observe(1);
    results.Observe(1);
  }
  EXPECT_EQ(contributions.share(), 1);
  EXPECT_NEAR(results.share(), 0.3 * 1.1 * 1.1 * 1.1, 1e-9) << "too much would make a round late";
}

TEST(SentShareTest, NonsenseDoesNoHarm) {
  SentShare share = SentShare::OfContributions();
  for (const double kept : {0.0, -7.0, 1e9, -HUGE_VAL, HUGE_VAL, std::nan("")}) {
    share.Observe(kept);
    EXPECT_GE(share.share(), SentShare::kLeast);
    EXPECT_LE(share.share(), 1);
  }
}

}  // namespace
}  // namespace banyan
