#include "gtest/gtest.h"
#include "node/rounds/encoding_chooser.h"

namespace banyan {
namespace {

const NodeId kNear(2);
const NodeId kFar(3);

CompressionRule NetSense() { return {.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}; }

// A round of `seconds` without loss.
LinkRatios::Observation RoundTo(NodeId neighbour, double seconds) {
  return {neighbour, {.sent_bytes = 1000000, .duration = absl::Seconds(seconds), .delay = absl::Seconds(seconds)}};
}

TEST(LinkRatiosTest, AFixedRatioIsThatOfTheRule) {
  CompressionConfig config;
  config.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.25}}}};
  LinkRatios ratios(&config);
  EXPECT_EQ(ratios.RatioTo(kNear, config.rules[0]), 0.25);
  ratios.Observe({RoundTo(kNear, 1)});
  EXPECT_EQ(ratios.RatioTo(kNear, config.rules[0]), 0.25);
}

TEST(LinkRatiosTest, EachLinkHasItsOwn) {
  CompressionConfig config;
  config.rules = {NetSense()};
  LinkRatios ratios(&config);
  const double start = ratios.RatioTo(kNear, config.rules[0]);
  EXPECT_EQ(ratios.RatioTo(kFar, config.rules[0]), start);
  for (int round = 0; round < 5; ++round) ratios.Observe({RoundTo(kNear, 0.1), RoundTo(kFar, 0.1 * (round + 1))});
  EXPECT_GT(ratios.RatioTo(kNear, config.rules[0]), start);
  EXPECT_LT(ratios.RatioTo(kFar, config.rules[0]), ratios.RatioTo(kNear, config.rules[0]));
}

TEST(LinkRatiosTest, EachRuleHasItsOwn) {
  CompressionConfig config;
  config.rules = {NetSense(), {.codec = CodecId::kRandomK, .numbers = {{"ratio", 0.5}}}};
  LinkRatios ratios(&config);
  const double start = ratios.RatioTo(kNear, config.rules[0]);
  EXPECT_EQ(ratios.RatioTo(kNear, config.rules[1]), 0.5);
  ratios.Observe({RoundTo(kNear, 0.1)});
  EXPECT_GT(ratios.RatioTo(kNear, config.rules[0]), start);
  EXPECT_EQ(ratios.RatioTo(kNear, config.rules[1]), 0.5);
}

TEST(LinkRatiosTest, WhatGoesToManyHasTheLeast) {
  CompressionConfig config;
  config.rules = {NetSense()};
  LinkRatios ratios(&config);
  EXPECT_EQ(ratios.LeastRatioTo({}, config.rules[0]), 1);
  const double start = ratios.LeastRatioTo({kNear, kFar}, config.rules[0]);
  ratios.Observe({RoundTo(kNear, 0.1)});
  EXPECT_EQ(ratios.LeastRatioTo({kNear, kFar}, config.rules[0]), start);
  EXPECT_GT(ratios.LeastRatioTo({kNear}, config.rules[0]), start);
}

}  // namespace
}  // namespace banyan
