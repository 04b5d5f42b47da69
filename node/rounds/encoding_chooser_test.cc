#include "node/rounds/encoding_chooser.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

const NodeId kSelf(1);
const NodeId kOther(2);

KeySlice Key(uint32_t id, const std::string& name, int64_t elements) {
  KeySlice key;
  key.key = KeyId(id);
  key.name = name;
  key.elements = elements;
  return key;
}

const KeySlice kWeight = Key(1, "fc1.weight", 100000);
const KeySlice kBias = Key(2, "fc1.bias", 10);

CompressionConfig TopK() {
  CompressionConfig config;
  config.rules = {{.keys = "*.weight", .codec = CodecId::kTopK, .numbers = {{"ratio", 0.01}}}};
  return config;
}

TEST(EncodingChooserTest, RulesSayHow) {
  EncodingChooser chooser(kSelf, TopK());
  EXPECT_TRUE(chooser.Compresses(kWeight));
  const Encoding uplink = chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther);
  EXPECT_EQ(uplink.codec, CodecId::kTopK);
  EXPECT_EQ(uplink.ratio, 0.01);
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.5).codec, CodecId::kTopK);
}

TEST(EncodingChooserTest, WhatNoRuleNamesIsNotCompressed) {
  EncodingChooser chooser(kSelf, TopK());
  EXPECT_FALSE(chooser.Compresses(kBias));
  EXPECT_EQ(chooser.ForUplink(kBias, Round(1), ChunkIndex(0), kOther).codec, CodecId::kFp32);
  EXPECT_FALSE(chooser.KeepsResidual(kBias));
}

TEST(EncodingChooserTest, AResultIsAsSparseAsItsTreeAsks) {
  EncodingChooser chooser(kSelf, TopK());
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.5).ratio, 0.5);
  EXPECT_EQ(chooser.ResultRatio(kWeight, {kOther}), 0.01);
  EXPECT_EQ(chooser.ResultRatio(kWeight, {}), 1);
  EXPECT_EQ(chooser.ResultRatio(kBias, {kOther}), 1);
}

TEST(EncodingChooserTest, CodecsWithoutARatioAskForNone) {
  CompressionConfig config = TopK();
  config.rules[0].codec = CodecId::kFp16;
  EXPECT_EQ(EncodingChooser(kSelf, config).ResultRatio(kWeight, {kOther}), 1);
}

TEST(EncodingChooserTest, BiasedCodecsKeepResiduals) {
  EncodingChooser chooser(kSelf, TopK());
  EXPECT_TRUE(chooser.KeepsResidual(kWeight));
  EXPECT_TRUE(chooser.KeepsResiduals());
  CompressionConfig config = TopK();
  config.rules[0].error_feedback = false;
  EncodingChooser without(kSelf, config);
  EXPECT_FALSE(without.KeepsResidual(kWeight));
  EXPECT_FALSE(without.KeepsResiduals());
}

TEST(EncodingChooserTest, NetSenseQuantizesBothWaysAndPrunesUplinks) {
  CompressionConfig config = TopK();
  config.rules[0].controller = RatioControllerKind::kNetSense;
  config.rules[0].numbers = {{"quantize_rms", 1e-3}};
  EncodingChooser chooser(kSelf, config);
  EXPECT_TRUE(chooser.Prunes(kWeight));
  EXPECT_FALSE(chooser.Prunes(kBias));
  const Encoding uplink = chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther);
  EXPECT_EQ(uplink.netsense.quantize_rms, 1e-3);
  EXPECT_EQ(uplink.netsense.prune_factor, 0.5);
  const Encoding result = chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.01);
  EXPECT_EQ(result.netsense.quantize_rms, 1e-3);
  EXPECT_EQ(result.netsense.prune_factor, 0);
  config.rules[0].numbers = {{"prune_factor", 0}};
  EXPECT_FALSE(EncodingChooser(kSelf, config).Prunes(kWeight));
  EXPECT_FALSE(EncodingChooser(kSelf, TopK()).Prunes(kWeight));
}

TEST(EncodingChooserTest, EachChunkRoundHalfAndNodeRollsItsOwnDice) {
  EncodingChooser chooser(kSelf, TopK());
  EncodingChooser other(kOther, TopK());
  const uint64_t seed = chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).seed;
  EXPECT_EQ(chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).seed, seed);
  EXPECT_NE(chooser.ForUplink(kWeight, Round(2), ChunkIndex(0), kOther).seed, seed);
  EXPECT_NE(chooser.ForUplink(kWeight, Round(1), ChunkIndex(1), kOther).seed, seed);
  EXPECT_NE(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.5).seed, seed);
  EXPECT_NE(other.ForUplink(kWeight, Round(1), ChunkIndex(0), kSelf).seed, seed);
}

CompressionConfig InLevels(bool error_feedback = true) {
  CompressionConfig config;
  config.rules = {{.keys = "*.weight", .codec = CodecId::kTrimRht, .error_feedback = error_feedback}};
  return config;
}

TEST(EncodingChooserTest, AResultInLevelsIsWhatTheSlowestLinkCarriesInTime) {
  EncodingChooser chooser(kSelf, InLevels());
  EXPECT_EQ(chooser.ResultRatio(kWeight, {kOther}), 1);
  chooser.Observe({{kOther, {}, 0.6}, {NodeId(3), {}, 0.5}});
  EXPECT_EQ(chooser.ResultRatio(kWeight, {kOther}), 0.6);
  EXPECT_EQ(chooser.ResultRatio(kWeight, {kOther, NodeId(3)}), 0.5);
  EXPECT_EQ(chooser.ResultRatio(kWeight, {NodeId(4)}), 1) << "nothing is known of it";
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.5).share, 0.5);
  for (int round = 0; round < 8; ++round) chooser.Observe({{kOther, {}, 1}, {NodeId(3), {}, 1}});
  EXPECT_EQ(chooser.ResultRatio(kWeight, {kOther, NodeId(3)}), 1);
}

TEST(EncodingChooserTest, AnUplinkInLevelsIsGivenALittleMoreThanCameThrough) {
  EncodingChooser chooser(kSelf, InLevels());
  const auto share = [&] { return chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).share; };
  chooser.ObserveUplink(kOther, 1000, 100);
  chooser.ObserveUplink(kOther, 1000, 700);
  EXPECT_EQ(share(), 1) << "the round goes on";
  chooser.Observe({});
  EXPECT_NEAR(share(), 0.5, 1e-9);
  chooser.Observe({});
  EXPECT_NEAR(share(), 0.75, 1e-9) << "heads alone, which cannot be cut, tell nothing against more";
}

TEST(EncodingChooserTest, AllIsSentWhereTheRestWouldBeLostOrChanceCuts) {
  EncodingChooser lossy(kSelf, InLevels(/*error_feedback=*/false));
  EncodingChooser by_chance(kSelf, InLevels(), /*learns_shares=*/false);
  for (EncodingChooser* chooser : {&lossy, &by_chance}) {
    chooser->ObserveUplink(kOther, 1000, 100);
    chooser->Observe({});
    EXPECT_EQ(chooser->ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).share, 1);
  }
  lossy.Observe({{kOther, {}, 0.5}});
  EXPECT_EQ(lossy.ResultRatio(kWeight, {kOther}), 1);
}

TEST(EncodingChooserTest, AnUplinkIsLightUntilMuchIsCut) {
  for (const bool error_feedback : {true, false}) {
    CompressionConfig config = InLevels(error_feedback);
    config.rules[0].numbers = {{"light_below", 0.2}};
    EncodingChooser chooser(kSelf, config);
    const CodecId light = error_feedback ? CodecId::kTrimSign : CodecId::kTrimSd;
    const auto codec = [&] { return chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).codec; };
    const auto observe = [&](int64_t taken_bytes) {
      chooser.ObserveUplink(kOther, 1000, taken_bytes);
      chooser.Observe({});
    };
    EXPECT_EQ(codec(), light);
    observe(100);
    EXPECT_EQ(codec(), CodecId::kTrimRht);
    observe(900);
    EXPECT_EQ(codec(), CodecId::kTrimRht) << "not yet";
    for (int round = 0; round < 20; ++round) observe(1000);
    EXPECT_EQ(codec(), light);
  }
}

TEST(EncodingChooserTest, AResultIsLightWhereLittleOfItIsLeftOut) {
  CompressionConfig config = InLevels();
  config.rules[0].numbers = {{"light_below", 0.2}};
  EncodingChooser chooser(kSelf, config);
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.9).codec, CodecId::kTrimSign);
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.7).codec, CodecId::kTrimRht);
}

TEST(EncodingChooserTest, RandomKTakesTheSameElementsEverywhere) {
  CompressionConfig config = TopK();
  config.rules[0].codec = CodecId::kRandomK;
  EncodingChooser chooser(kSelf, config);
  EncodingChooser other(kOther, config);
  const uint64_t seed = chooser.ForUplink(kWeight, Round(1), ChunkIndex(0), kOther).seed;
  EXPECT_EQ(other.ForUplink(kWeight, Round(1), ChunkIndex(0), kSelf).seed, seed);
  EXPECT_EQ(chooser.ForResult(kWeight, Round(1), ChunkIndex(0), 0.5).seed, seed);
  EXPECT_NE(chooser.ForUplink(kWeight, Round(2), ChunkIndex(0), kOther).seed, seed);
}

}  // namespace
}  // namespace banyan
