#include "compression/compression_rules.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "core/random.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

TEST(MatchesPatternTest, StarsStandForAnyCharacters) {
  for (const char* pattern : {"*", "**", "fc1.weight", "fc1*", "*.weight", "*1.w*", "f*1*t", "fc1.weight*", "*fc1*"}) {
    EXPECT_TRUE(MatchesPattern(pattern, "fc1.weight")) << pattern;
  }
  for (const char* pattern : {"", "fc1", "*.bias", "fc2*", "*fc1", "f*2*t", "fc1.weight?", "FC1*", "fc.*", "*11*"}) {
    EXPECT_FALSE(MatchesPattern(pattern, "fc1.weight")) << pattern;
  }
}

TEST(MatchesPatternTest, EndsDoNotOverlap) {
  EXPECT_FALSE(MatchesPattern("aba*ba", "aba"));
  EXPECT_TRUE(MatchesPattern("ab*a", "aba"));
  EXPECT_FALSE(MatchesPattern("a*a", "a"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("", ""));
}

TEST(MatchesPatternTest, OtherSignsStandForThemselves) {
  EXPECT_TRUE(MatchesPattern("a?[b].*", "a?[b].c"));
  EXPECT_FALSE(MatchesPattern("a.c*", "abc"));
}

// Against the library's regular expressions, on short words of two letters where much repeats.
TEST(MatchesPatternTest, AgreesWithRegularExpressions) {
  Random random(5);
  int matches = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string pattern;
    std::string expression;
    for (uint64_t left = random.Below(7); left > 0; --left) {
      const char c = "ab*"[random.Below(3)];
      pattern += c;
      expression += c == '*' ? std::string("[ab]*") : std::string(1, c);
    }
    std::string name;
    for (uint64_t left = random.Below(9); left > 0; --left) name += "ab"[random.Below(2)];
    const bool expected = std::regex_match(name, std::regex(expression));
    ASSERT_EQ(MatchesPattern(pattern, name), expected) << pattern << " " << name;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 500);
}

// A matcher that tries every way to place the stars would not end.
TEST(MatchesPatternTest, ManyStarsTakeNoLonger) {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "*a";
  EXPECT_TRUE(MatchesPattern(pattern + "*", std::string(1024, 'a')));
  EXPECT_FALSE(MatchesPattern(pattern + "*b*", std::string(1024, 'a')));
}

CompressionConfig Sample() {
  return {.rules = {{.keys = "*.bias", .codec = CodecId::kFp32},
                    {.keys = "conv*", .codec = CodecId::kTopK},
                    {.keys = "conv1.*", .codec = CodecId::kInt8},
                    {.keys = "fc*", .codec = CodecId::kFp16}},
          .least_elements = 100};
}

TEST(RuleForTest, TheFirstThatMatchesCounts) {
  const CompressionConfig config = Sample();
  EXPECT_EQ(RuleFor(config, "conv1.weight", 5000), &config.rules[1]);
  EXPECT_EQ(RuleFor(config, "fc1.weight", 5000), &config.rules[3]);
}

TEST(RuleForTest, TheRestTravelsAsFp32) {
  const CompressionConfig config = Sample();
  EXPECT_EQ(RuleFor(config, "embedding", 5000), nullptr);
  EXPECT_EQ(RuleFor(config, "conv1.bias", 5000), nullptr);
  EXPECT_EQ(RuleFor(CompressionConfig(), "fc1.weight", 5000), nullptr);
}

TEST(RuleForTest, SmallTensorsTravelAsFp32) {
  const CompressionConfig config = Sample();
  EXPECT_EQ(RuleFor(config, "fc1.weight", 99), nullptr);
  EXPECT_EQ(RuleFor(config, "fc1.weight", 100), &config.rules[3]);
}

TEST(UsesErrorFeedbackTest, BiasedCodecsAndThoseThatMayBeCutByThemselves) {
  for (CodecId codec : AllCodecIds()) {
    const bool biased = codec == CodecId::kTopK || codec == CodecId::kRandomK || codec == CodecId::kSign;
    const bool trimmable = TraitsOf(codec)->is_trimmable;
    EXPECT_EQ(UsesErrorFeedback({.codec = codec}), biased || trimmable) << CodecName(codec);
  }
  EXPECT_FALSE(UsesErrorFeedback({.codec = static_cast<CodecId>(200)}));
}

TEST(UsesErrorFeedbackTest, TheRulesOwnWordCounts) {
  EXPECT_FALSE(UsesErrorFeedback({.codec = CodecId::kTopK, .error_feedback = false}));
  EXPECT_TRUE(UsesErrorFeedback({.codec = CodecId::kInt4, .error_feedback = true}));
}

TEST(CompressionRulesTest, ALightCodecIsBiasedOnlyWhereNothingIsLost) {
  CompressionRule rule = {.codec = CodecId::kTrimRht};
  EXPECT_EQ(LightBelowOf(rule), 0);
  rule.numbers = {{"light_below", 0.2}};
  EXPECT_EQ(LightBelowOf(rule), 0.2);
  EXPECT_EQ(LightCodecOf(rule), CodecId::kTrimSign);
  rule.error_feedback = false;
  EXPECT_EQ(LightCodecOf(rule), CodecId::kTrimSd);
}

}  // namespace
}  // namespace banyan
