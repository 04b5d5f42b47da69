#include "gtest/gtest.h"
#include "node/rounds/encoding_chooser.h"

namespace banyan {
namespace {

const NodeId kNear(2);
const NodeId kFar(3);

CompressionRule NetSense() { return {.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}; }

// A round of `seconds` without loss.
LinkRoom::Observation RoundTo(NodeId neighbour, double seconds) {
  return {neighbour, {.sent_bytes = 1000000, .duration = absl::Seconds(seconds), .delay = absl::Seconds(seconds)}};
}

TEST(LinkRoomTest, AFixedRatioIsThatOfTheRule) {
  CompressionConfig config;
  config.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.25}}}};
  LinkRoom room(&config);
  EXPECT_EQ(room.RatioUnder(0), 0.25);
  room.Observe(RoundTo(kNear, 1));
  EXPECT_EQ(room.RatioUnder(0), 0.25);
}

TEST(LinkRoomTest, ARatioFollowsItsOwnLink) {
  CompressionConfig config;
  config.rules = {NetSense()};
  LinkRoom near(&config);
  LinkRoom far(&config);
  const double start = near.RatioUnder(0);
  EXPECT_EQ(far.RatioUnder(0), start);
  for (int round = 0; round < 5; ++round) {
    near.Observe(RoundTo(kNear, 0.1));
    far.Observe(RoundTo(kFar, 0.1 * (round + 1)));
  }
  EXPECT_GT(near.RatioUnder(0), start);
  EXPECT_LT(far.RatioUnder(0), near.RatioUnder(0));
}

TEST(LinkRoomTest, EachRuleHasItsOwnRatio) {
  CompressionConfig config;
  config.rules = {NetSense(), {.codec = CodecId::kRandomK, .numbers = {{"ratio", 0.5}}}};
  LinkRoom room(&config);
  const double start = room.RatioUnder(0);
  EXPECT_EQ(room.RatioUnder(1), 0.5);
  room.Observe(RoundTo(kNear, 0.1));
  EXPECT_GT(room.RatioUnder(0), start);
  EXPECT_EQ(room.RatioUnder(1), 0.5);
}

TEST(LinkRoomTest, LearnsOnceARoundFromAllKeysTogether) {
  CompressionConfig config;
  config.rules = {NetSense()};
  LinkRoom room(&config);
  for (int key = 0; key < 11; ++key) room.CountUplink(1000, 500);
  room.EndRound(true);
  EXPECT_DOUBLE_EQ(room.uplink_share(), 0.625) << "what came through, and a quarter more";
  for (int round = 0; round < 3; ++round) room.EndRound(true);
  EXPECT_EQ(room.uplink_share(), 1) << "where nothing is cut more goes";
  room.CountUplink(1000, 500);
  room.EndRound(false);
  EXPECT_EQ(room.uplink_share(), 1);
}

TEST(LinkRoomTest, WhatGoesToManyHasTheLeastRatio) {
  CompressionConfig config;
  config.rules = {NetSense()};
  EncodingChooser chooser(NodeId(1), config);
  const KeySlice key = {.key = KeyId(1), .name = "w", .elements = 1 << 20};
  EXPECT_EQ(chooser.ResultRatio(key, {}), 1);
  const double start = chooser.ResultRatio(key, {kNear, kFar});
  chooser.Observe({RoundTo(kNear, 0.1)});
  EXPECT_EQ(chooser.ResultRatio(key, {kNear, kFar}), start);
  EXPECT_GT(chooser.ResultRatio(key, {kNear}), start);
}

}  // namespace
}  // namespace banyan
