#include "scheduler/policy/rate_filter.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr double kRateBps = 50e6;

class RateFilterTest : public testing::Test {
 protected:
  // Normally distributed around 1, nearly.
  double Factor(double deviation) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.Unit();
    return 1 + deviation * sum;
  }
  void AddNoisy(double rate_bps, double deviation, int samples) {
    for (int i = 0; i < samples; ++i) filter_.Add(rate_bps * Factor(deviation), absl::Seconds(1));
  }
  // How many samples of another rate it takes until the filter is within a fifth of that.
  int SamplesUntil(double rate_bps, double deviation) {
    int samples = 0;
    while (std::abs(filter_.rate_bps() / rate_bps - 1) > 0.2 && samples < 100) {
      filter_.Add(rate_bps * Factor(deviation), absl::Seconds(1));
      ++samples;
    }
    return samples;
  }

  Random random_{1};
  RateFilter filter_{kRateBps};
};

TEST_F(RateFilterTest, NoiseIsAveragedAway) {
  double most_off = 0;
  double sum_of_squares = 0;
  constexpr int kSamples = 20000;
  AddNoisy(kRateBps, 0.1, 20);
  for (int i = 0; i < kSamples; ++i) {
    AddNoisy(kRateBps, 0.1, 1);
    const double off = std::abs(filter_.rate_bps() / kRateBps - 1);
    most_off = std::max(most_off, off);
    sum_of_squares += off * off;
  }
  EXPECT_LT(std::sqrt(sum_of_squares / kSamples), 0.03);
  EXPECT_LT(most_off, 0.2);
}

TEST_F(RateFilterTest, AChangeIsSeenSoonAlsoInNoise) {
  for (const double factor : {2.0, 0.5, 5.0, 0.2}) {
    filter_ = RateFilter(kRateBps);
    AddNoisy(kRateBps, 0.1, 100);
    EXPECT_LE(SamplesUntil(factor * kRateBps, 0.1), 3) << factor;
  }
  for (const double factor : {1.5, 0.67}) {
    filter_ = RateFilter(kRateBps);
    AddNoisy(kRateBps, 0.1, 100);
    EXPECT_LE(SamplesUntil(factor * kRateBps, 0.1), 4) << factor;
  }
}

TEST_F(RateFilterTest, WithoutNoiseASmallChangeIsSeenAtOnce) {
  AddNoisy(kRateBps, 0.01, 100);
  filter_.Add(1.3 * kRateBps, absl::Seconds(1));
  EXPECT_NEAR(filter_.rate_bps(), 1.3 * kRateBps, 0.01 * kRateBps);
}

TEST_F(RateFilterTest, ABeliefCountsLikeOneSample) {
  filter_.Add(1.1 * kRateBps, absl::ZeroDuration());
  EXPECT_NEAR(filter_.rate_bps(), 1.05 * kRateBps, 1);
}

TEST_F(RateFilterTest, ABeliefThatIsFarOffIsReplaced) {
  filter_.Add(10 * kRateBps, absl::Seconds(1));
  EXPECT_EQ(filter_.rate_bps(), 10 * kRateBps);
}

TEST_F(RateFilterTest, LowerBoundsNeverLowerAndDoNotPileUpTheirNoise) {
  AddNoisy(kRateBps, 0.1, 100);
  const double before_bps = filter_.rate_bps();
  for (int i = 0; i < 1000; ++i) filter_.AddLowerBound(0.9 * kRateBps * Factor(0.1), absl::Seconds(1));
  EXPECT_EQ(filter_.rate_bps(), before_bps);
  filter_.AddLowerBound(3 * kRateBps, absl::Seconds(1));
  EXPECT_EQ(filter_.rate_bps(), 3 * kRateBps);
}

TEST_F(RateFilterTest, WhatIsOldCountsLess) {
  AddNoisy(kRateBps, 0.1, 100);
  RateFilter fresh = filter_;
  filter_.Add(1.4 * kRateBps, absl::Seconds(60));
  fresh.Add(1.4 * kRateBps, absl::Seconds(1));
  EXPECT_NEAR(filter_.rate_bps(), 1.4 * kRateBps, 1);
  EXPECT_LT(fresh.rate_bps(), 1.1 * kRateBps);
}

}  // namespace
}  // namespace banyan
