// What every ratio controller must do, whatever its rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/control/ratio_controller.h"
#include "core/random.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

class RatioControllerConformanceTest : public ::testing::TestWithParam<RatioControllerKind> {
 protected:
  static RatioControllerConfig Config() {
    RatioControllerConfig config;
    config.kind = GetParam();
    return config;
  }
  static std::unique_ptr<RatioController> Make() { return *MakeRatioController(Config()); }

  // Least and greatest ratio by its own configuration.
  static std::pair<double, double> Bounds() {
    const RatioControllerConfig config = Config();
    switch (config.kind) {
      case RatioControllerKind::kFixed:
        return {config.fixed.ratio, config.fixed.ratio};
      case RatioControllerKind::kNetSense:
        return {config.netsense.least_ratio, config.netsense.greatest_ratio};
      case RatioControllerKind::kBudget:
        return {config.budget.least_ratio, config.budget.greatest_ratio};
      default:
        return {config.delay_adaptive.least_ratio, config.delay_adaptive.greatest_ratio};
    }
  }
  static bool IsWithinBounds(const RatioController& controller) {
    return controller.ratio() >= Bounds().first && controller.ratio() <= Bounds().second;
  }

  static absl::Duration AnyDuration(Random& random) {
    switch (random.Below(12)) {
      case 0:
        return absl::ZeroDuration();
      case 1:
        return absl::InfiniteDuration();
      case 2:
        return -absl::InfiniteDuration();
      case 3:
        return -absl::Milliseconds(5);
      case 4:
        return absl::Nanoseconds(1);
      case 5:
        return absl::Hours(1'000'000'000);
      default:
        return absl::Microseconds(random.Between(1, 1 << random.Between(1, 30)));
    }
  }
  static RoundObservation AnyRound(Random& random, double ratio) {
    constexpr int64_t kExtremes[] = {0, -1, 1, std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
    const int64_t bytes = random.Chance(0.2) ? kExtremes[random.Below(5)] : random.Between(1, 1'000'000'000);
    return {.ratio = random.Chance(0.9) ? ratio : random.Unit(),
            .sent_bytes = bytes,
            .duration = AnyDuration(random),
            .delay = AnyDuration(random),
            .lost = random.Chance(0.1)};
  }
};

TEST_P(RatioControllerConformanceTest, BeginsWithinItsBounds) { EXPECT_TRUE(IsWithinBounds(*Make())); }

TEST_P(RatioControllerConformanceTest, TenThousandRandomRoundsKeepItWithinItsBoundsAndDeterministic) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto controller = Make();
    const auto twin = Make();
    Random random(seed);
    for (int i = 0; i < 10'000; ++i) {
      const RoundObservation round = AnyRound(random, controller->ratio());
      controller->Observe(round);
      twin->Observe(round);
      ASSERT_TRUE(IsWithinBounds(*controller)) << controller->ratio() << " after " << i;
      ASSERT_EQ(controller->ratio(), twin->ratio());
    }
  }
}

TEST_P(RatioControllerConformanceTest, RoundsWithoutTimeChangeNothing) {
  const auto controller = Make();
  const double before = controller->ratio();
  for (int i = 0; i < 100; ++i) controller->Observe({.ratio = before, .sent_bytes = 1000});
  EXPECT_EQ(controller->ratio(), before);
}

TEST_P(RatioControllerConformanceTest, LivesOnAfterHugeDelays) {
  const auto controller = Make();
  for (int i = 0; i < 100; ++i) {
    controller->Observe({.ratio = controller->ratio(),
                         .sent_bytes = 1,
                         .duration = absl::InfiniteDuration(),
                         .delay = absl::InfiniteDuration()});
    ASSERT_TRUE(IsWithinBounds(*controller));
  }
}

// The same round over and over: the ratio comes to rest. How the round went does not depend on the ratio here.
TEST_P(RatioControllerConformanceTest, SettlesOnConstantInput) {
  for (int milliseconds : {1, 100, 333, 20'000}) {
    const auto controller = Make();
    const absl::Duration duration = absl::Milliseconds(milliseconds);
    const auto observe = [&] {
      controller->Observe(
          {.ratio = controller->ratio(), .sent_bytes = 250'000, .duration = duration, .delay = duration});
    };
    for (int i = 0; i < 400; ++i) observe();
    const double settled = controller->ratio();
    for (int i = 0; i < 1000; ++i) {
      observe();
      ASSERT_NEAR(controller->ratio(), settled, 1e-9) << milliseconds << " ms, round " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Controllers, RatioControllerConformanceTest, ::testing::ValuesIn(AllRatioControllerKinds()),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

}  // namespace
}  // namespace banyan
