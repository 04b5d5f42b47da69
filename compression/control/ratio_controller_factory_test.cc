#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compression/control/ratio_controller.h"
#include "core/random.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

using Maker = std::function<std::unique_ptr<RatioController>()>;
// The seconds that all of a tensor would take in a round.
using Course = std::function<double(int round, Random& random)>;

// Appends the ratios of 1500 rounds with losses and jitter.
void AppendRatios(const Maker& make, const Course& course, std::vector<double>* ratios) {
  const std::unique_ptr<RatioController> controller = make();
  Random random(11);
  for (int round = 0; round < 1500; ++round) {
    const double ratio = controller->ratio();
    ratios->push_back(ratio);
    const absl::Duration delay = absl::Seconds(0.02 + course(round, random) * ratio * (0.8 + 0.4 * random.Unit()));
    controller->Observe({.ratio = ratio,
                         .sent_bytes = 1 + static_cast<int64_t>(1e8 * ratio),
                         .duration = delay,
                         .delay = delay,
                         .lost = random.Chance(0.01)});
  }
}

// On links of every sort, so that each number of a controller shows somewhere.
std::vector<double> Ratios(const Maker& make) {
  std::vector<double> ratios;
  double seconds = 1;
  AppendRatios(
      make,
      [&seconds](int, Random& random) {
        if (random.Chance(0.05)) seconds = std::pow(10, 4 * random.Unit() - 1.5);
        return seconds;
      },
      &ratios);
  AppendRatios(
      make, [](int, Random&) { return 1e-5; }, &ratios);
  AppendRatios(
      make, [](int round, Random&) { return 0.01 * std::pow(1.02, round); }, &ratios);
  return ratios;
}

std::vector<double> RatiosWith(RatioControllerKind kind, const std::vector<ControllerNumber>& numbers) {
  return Ratios([&] { return *MakeRatioController(CompressionRule{.controller = kind, .numbers = numbers}); });
}

// Not the default, and one that the others' defaults allow.
double OtherValue(RatioControllerKind kind, const RatioNumber& number) {
  const double value = number.get({.kind = kind});
  if (number.is_whole) return value + 7;
  for (double factor : {0.5, 0.9, 1.5, 1.1}) {
    const std::vector<ControllerNumber> numbers = {{std::string(number.name), value * factor}};
    const bool fits = MakeRatioControllerConfig({.controller = kind, .numbers = numbers}).ok();
    if (fits) return value * factor;
  }
  ADD_FAILURE() << "no other value for " << number.name;
  return value;
}

TEST(RatioControllerFactoryTest, EveryNumberOfARuleArrivesInItsController) {
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    const std::vector<double> before = RatiosWith(kind, {});
    for (const RatioNumber& number : NumbersOf(kind)) {
      if (IsEncodingNumber(number.name)) continue;
      const ControllerNumber other = {std::string(number.name), OtherValue(kind, number)};
      EXPECT_NE(RatiosWith(kind, {other}), before) << NameOf(kind) << " ignores " << number.name;
    }
  }
}

TEST(RatioControllerFactoryTest, ARuleWithoutNumbersHasTheDefaults) {
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    EXPECT_EQ(RatiosWith(kind, {}),
              Ratios([kind] { return *MakeRatioController(RatioControllerConfig{.kind = kind}); }));
  }
  EXPECT_EQ((*MakeRatioController(CompressionRule{.codec = CodecId::kTopK}))->ratio(), 0.1);
}

TEST(RatioControllerFactoryTest, ARuleThatCannotBeNamesTheNumber) {
  const CompressionRule unknown{.controller = RatioControllerKind::kDa4, .numbers = {{"delay_slack", 2}}};
  EXPECT_THAT(std::string(MakeRatioController(unknown).status().message()), HasSubstr("da4.delay_slack: expected"));
  const CompressionRule large{.controller = RatioControllerKind::kBudget, .numbers = {{"seconds", 1e9}}};
  EXPECT_EQ(MakeRatioController(large).status().message(),
            "budget.seconds: expected a number from 0.001 to 3600, got 1e+09");
}

TEST(RatioControllerFactoryTest, RefusesWhatTheConfigurationRefuses) {
  RatioControllerConfig config;
  config.kind = RatioControllerKind::kNetSense;
  config.netsense.decrease_factor = 2;
  EXPECT_EQ(MakeRatioController(config).status().message(),
            "netsense.decrease_factor: expected a number from 0.01 to 0.99, got 2");
}

// The kind decides the law, whatever the numbers' own law says.
TEST(RatioControllerFactoryTest, EachDelayAdaptiveKindHasItsLaw) {
  RatioControllerConfig config;
  config.delay_adaptive.start_ratio = 0.2;
  const auto after = [&](RatioControllerKind kind) {
    config.kind = kind;
    const auto controller = *MakeRatioController(config);
    for (int seconds : {1, 1, 2}) controller->Observe({.delay = absl::Seconds(seconds)});
    return controller->ratio();
  };
  EXPECT_NEAR(after(RatioControllerKind::kDa1), 0.005, 1e-9);  // 0.2 - 2 / 3
  EXPECT_NEAR(after(RatioControllerKind::kDa2), 0.1, 1e-9);
  EXPECT_NEAR(after(RatioControllerKind::kDa3), 0.195, 1e-9);
  EXPECT_NEAR(after(RatioControllerKind::kDa4), 0.12, 1e-9);
  EXPECT_NEAR(after(RatioControllerKind::kDa5), 0.21 * (1 - 0.8 * 4 / 9), 1e-9);
}

}  // namespace
}  // namespace banyan
