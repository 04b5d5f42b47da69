#include "proto/compression/ratio_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Kind = RatioControllerKind;

constexpr Kind kDelayAdaptive[] = {Kind::kDa1, Kind::kDa2, Kind::kDa3, Kind::kDa4, Kind::kDa5};

RatioControllerConfig Made(Kind kind, const std::vector<ControllerNumber>& numbers) {
  absl::StatusOr<RatioControllerConfig> config = MakeRatioControllerConfig({.controller = kind, .numbers = numbers});
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : RatioControllerConfig();
}

std::string Refusal(Kind kind, const std::vector<ControllerNumber>& numbers) {
  const absl::Status status = MakeRatioControllerConfig({.controller = kind, .numbers = numbers}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

std::vector<std::string> NamesOf(Kind kind) {
  std::vector<std::string> names;
  for (const RatioNumber& number : NumbersOf(kind)) names.emplace_back(number.name);
  return names;
}

// The next four take each configuration apart: a field that is added does not compile here before it has a name. Every
// value differs from the default and from those of the other fields.

TEST(RatioNumbersTest, EveryFieldOfFixedHasAName) {
  const auto [ratio, light_below] = Made(Kind::kFixed, {{"ratio", 0.25}, {"light_below", 0.2}}).fixed;
  EXPECT_EQ(ratio, 0.25);
  EXPECT_EQ(light_below, 0.2);
  EXPECT_EQ(NumbersOf(Kind::kFixed).size(), 2u);
}

TEST(RatioNumbersTest, EveryFieldOfNetSenseHasAName) {
  const auto [start_ratio, start_step, excessive_delay, bdp_share, fill_share, decrease_factor, increase_step,
              least_ratio, greatest_ratio, bandwidth_rounds, propagation_rounds, quantize_below, quantize_rms,
              prune_factor] = Made(Kind::kNetSense, {{"start_ratio", 0.02},
                                                     {"start_step", 0.03},
                                                     {"excessive_delay", 4},
                                                     {"bdp_share", 0.75},
                                                     {"fill_share", 0.6},
                                                     {"decrease_factor", 0.7},
                                                     {"increase_step", 0.008},
                                                     {"least_ratio", 0.009},
                                                     {"greatest_ratio", 0.5},
                                                     {"bandwidth_rounds", 11},
                                                     {"propagation_rounds", 12},
                                                     {"quantize_below", 0.15},
                                                     {"quantize_rms", 1e-3},
                                                     {"prune_factor", 0.25}})
                                  .netsense;
  EXPECT_EQ(start_ratio, 0.02);
  EXPECT_EQ(start_step, 0.03);
  EXPECT_EQ(excessive_delay, 4);
  EXPECT_EQ(bdp_share, 0.75);
  EXPECT_EQ(fill_share, 0.6);
  EXPECT_EQ(decrease_factor, 0.7);
  EXPECT_EQ(increase_step, 0.008);
  EXPECT_EQ(least_ratio, 0.009);
  EXPECT_EQ(greatest_ratio, 0.5);
  EXPECT_EQ(bandwidth_rounds, 11);
  EXPECT_EQ(propagation_rounds, 12);
  EXPECT_EQ(quantize_below, 0.15);
  EXPECT_EQ(quantize_rms, 1e-3);
  EXPECT_EQ(prune_factor, 0.25);
  EXPECT_EQ(NumbersOf(Kind::kNetSense).size(), 14u);
}

TEST(RatioNumbersTest, EveryFieldOfDelayAdaptiveHasAName) {
  const std::map<std::string, double> values = {
      {"delay_variation", 0.1}, {"increase_step", 0.02}, {"decrease_step", 0.03},
      {"least_ratio", 0.04},    {"greatest_ratio", 0.9}, {"delay_slack", 3},
      {"decrease_factor", 0.6}, {"start_ratio", 0.7},    {"window_rounds", 8}};
  RatioControllerConfig config;
  // No kind has all of them.
  for (Kind kind : kDelayAdaptive) {
    for (const RatioNumber& number : NumbersOf(kind)) number.set(config, values.at(std::string(number.name)));
  }
  const auto [law, delay_variation, increase_step, decrease_step, least_ratio, greatest_ratio, delay_slack,
              decrease_factor, start_ratio, window_rounds] = config.delay_adaptive;
  EXPECT_EQ(law, DelayLaw::kMultiplicative);  // follows from the kind, has no name
  EXPECT_EQ(delay_variation, 0.1);
  EXPECT_EQ(increase_step, 0.02);
  EXPECT_EQ(decrease_step, 0.03);
  EXPECT_EQ(least_ratio, 0.04);
  EXPECT_EQ(greatest_ratio, 0.9);
  EXPECT_EQ(delay_slack, 3);
  EXPECT_EQ(decrease_factor, 0.6);
  EXPECT_EQ(start_ratio, 0.7);
  EXPECT_EQ(window_rounds, 8);
}

TEST(RatioNumbersTest, EveryFieldOfBudgetHasAName) {
  const auto [budget, start_ratio, least_ratio, greatest_ratio, rise_weight] =
      Made(Kind::kBudget, {{"seconds", 2.5},
                           {"start_ratio", 0.1},
                           {"least_ratio", 0.02},
                           {"greatest_ratio", 0.9},
                           {"rise_weight", 0.25}})
          .budget;
  EXPECT_EQ(budget, absl::Milliseconds(2500));
  EXPECT_EQ(start_ratio, 0.1);
  EXPECT_EQ(least_ratio, 0.02);
  EXPECT_EQ(greatest_ratio, 0.9);
  EXPECT_EQ(rise_weight, 0.25);
  EXPECT_EQ(NumbersOf(Kind::kBudget).size(), 5u);
}

TEST(RatioNumbersTest, WhatIsReadIsWhatWasSet) {
  for (Kind kind : AllRatioControllerKinds()) {
    for (const RatioNumber& number : NumbersOf(kind)) {
      const double other = number.is_whole ? number.least : 0.3 * number.least + 0.7 * number.greatest;
      RatioControllerConfig config;
      EXPECT_NE(number.get(config), other) << number.name;
      number.set(config, other);
      EXPECT_NEAR(number.get(config), other, 1e-8) << number.name;
    }
  }
}

TEST(RatioNumbersTest, NothingNamedLeavesTheDefaults) {
  for (Kind kind : AllRatioControllerKinds()) EXPECT_EQ(Made(kind, {}), RatioControllerConfig{.kind = kind});
}

TEST(RatioNumbersTest, EachLawHasItsOwnNumbers) {
  EXPECT_THAT(NamesOf(Kind::kDa1),
              UnorderedElementsAre("start_ratio", "least_ratio", "greatest_ratio", "window_rounds"));
  EXPECT_THAT(NamesOf(Kind::kDa3), UnorderedElementsAre("start_ratio", "least_ratio", "greatest_ratio", "window_rounds",
                                                        "delay_variation", "increase_step", "decrease_step"));
  EXPECT_THAT(NamesOf(Kind::kDa5), UnorderedElementsAre("start_ratio", "least_ratio", "greatest_ratio", "window_rounds",
                                                        "delay_slack", "increase_step", "decrease_factor"));
  EXPECT_THAT(NamesOf(Kind::kFixed), ElementsAre("ratio", "light_below"));
  EXPECT_TRUE(NumbersOf(static_cast<Kind>(99)).empty());
}

TEST(RatioNumbersTest, KnowsItsNames) {
  for (const char* name : {"ratio", "seconds", "delay_slack", "bdp_share"}) EXPECT_TRUE(IsRatioNumber(name)) << name;
  for (const char* name : {"", "law", "budget", "Ratio", "codec"}) EXPECT_FALSE(IsRatioNumber(name)) << name;
}

TEST(RatioNumbersTest, ThreeNumbersAreNotTheControllers) {
  int found = 0;
  for (const RatioNumber& number : NumbersOf(Kind::kNetSense)) found += IsEncodingNumber(number.name);
  EXPECT_EQ(found, 3);
  EXPECT_FALSE(IsEncodingNumber("least_ratio"));
}

TEST(RatioNumbersTest, AnUnknownNameIsAnsweredWithTheNames) {
  EXPECT_EQ(Refusal(Kind::kBudget, {{"ratio", 0.1}}),
            "budget.ratio: expected a number of budget (seconds, start_ratio, least_ratio, greatest_ratio, "
            "rise_weight), got one that it does not have");
  EXPECT_THAT(Refusal(Kind::kDa1, {{"increase_step", 0.1}}),
              HasSubstr("da1.increase_step: expected a number of da1 ("));
}

TEST(RatioNumbersTest, EachNumberHasItsRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (Kind kind : AllRatioControllerKinds()) {
    for (const RatioNumber& number : NumbersOf(kind)) {
      const std::string name(number.name);
      const double beyond = number.is_whole ? 1 : 1e-7;
      for (double bad : {std::nan(""), infinity, -infinity, number.greatest + beyond, number.least - beyond}) {
        EXPECT_THAT(Refusal(kind, {{name, bad}}), HasSubstr(name + ": expected a ")) << bad;
      }
      if (number.is_whole) {
        EXPECT_THAT(Refusal(kind, {{name, number.least + 0.5}}), HasSubstr("a whole number from "));
      }
    }
  }
  EXPECT_EQ(Refusal(Kind::kFixed, {{"ratio", 2}}), "fixed.ratio: expected a number from 1e-06 to 1, got 2");
  EXPECT_EQ(Refusal(Kind::kNetSense, {{"bandwidth_rounds", 2.5}}),
            "netsense.bandwidth_rounds: expected a whole number from 1 to 100000, got 2.5");
}

TEST(RatioNumbersTest, NumbersFitEachOther) {
  EXPECT_EQ(Refusal(Kind::kDa2, {{"start_ratio", 0.5}}),
            "da2.start_ratio: expected at most the greatest_ratio of 0.3 (its default), got 0.5");
  EXPECT_EQ(Refusal(Kind::kDa2, {{"greatest_ratio", 0.1}}),
            "da2.greatest_ratio: expected at least the start_ratio of 0.3 (its default), got 0.1");
  EXPECT_EQ(Refusal(Kind::kNetSense, {{"least_ratio", 0.5}, {"greatest_ratio", 0.4}}),
            "netsense.least_ratio: expected at most the greatest_ratio of 0.4, got 0.5");
  EXPECT_EQ(Refusal(Kind::kNetSense, {{"bdp_share", 0.5}}),
            "netsense.bdp_share: expected at least the fill_share of 0.8 (its default), got 0.5");
  Made(Kind::kDa2, {{"greatest_ratio", 0.1}, {"start_ratio", 0.1}});
}

TEST(RatioNumbersTest, ANumberComesOnce) {
  EXPECT_THAT(Refusal(Kind::kFixed, {{"ratio", 0.1}, {"ratio", 0.1}}),
              HasSubstr("fixed.ratio: expected each number once"));
}

TEST(RatioNumbersTest, AKindThatDoesNotExistIsRefused) {
  EXPECT_EQ(Refusal(static_cast<Kind>(99), {}),
            "controller: expected one of fixed, netsense, da1, da2, da3, da4, da5, budget, got number 99");
  RatioControllerConfig config;
  config.kind = static_cast<Kind>(99);
  EXPECT_EQ(CheckRatioControllerConfig(config).code(), absl::StatusCode::kInvalidArgument);
}

TEST(RatioNumbersTest, OnlyTheNumbersOfTheKindCount) {
  RatioControllerConfig config;
  config.fixed.ratio = 7;
  config.delay_adaptive.window_rounds = 0;
  for (Kind kind : AllRatioControllerKinds()) {
    config.kind = kind;
    EXPECT_EQ(CheckRatioControllerConfig(config).ok(), kind == Kind::kNetSense || kind == Kind::kBudget)
        << NameOf(kind);
  }
}

}  // namespace
}  // namespace banyan
