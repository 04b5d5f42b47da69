#include "proto/compression/compression_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// "field: expected", empty where all is well.
std::string Problem(const CompressionRule& rule) {
  const std::optional<FieldProblem> problem = FindRuleProblem(rule);
  if (!problem.has_value()) return "";
  EXPECT_FALSE(problem->came.empty());
  return absl::StrCat(problem->field, ": ", problem->expected);
}

TEST(CompressionCheckTest, EveryCodecByItselfIsFine) {
  for (CodecId codec : AllCodecIds()) EXPECT_EQ(Problem({.codec = codec}), "");
}

TEST(CompressionCheckTest, SparseCodecsHaveEveryController) {
  for (CodecId codec : {CodecId::kTopK, CodecId::kRandomK}) {
    for (RatioControllerKind controller : AllRatioControllerKinds()) {
      EXPECT_EQ(Problem({.codec = codec, .controller = controller}), "");
    }
  }
}

TEST(CompressionCheckTest, DenseCodecsHaveNoRatio) {
  for (CodecId codec : AllCodecIds()) {
    if (TraitsOf(codec)->is_sparse) continue;
    EXPECT_THAT(Problem({.codec = codec, .controller = RatioControllerKind::kNetSense}),
                HasSubstr(absl::StrCat("controller: none with codec ", CodecName(codec), ", which sends every")));
    EXPECT_THAT(Problem({.codec = codec, .numbers = {{"ratio", 0.1}}}), StartsWith("ratio: none with codec"));
  }
}

TEST(CompressionCheckTest, NumbersAreChecked) {
  EXPECT_THAT(Problem({.codec = CodecId::kTopK, .numbers = {{"ratio", 2}}}), StartsWith("ratio: a number from 1e-06"));
  EXPECT_THAT(Problem({.codec = CodecId::kTopK, .numbers = {{"ratio", std::nan("")}}}), StartsWith("ratio: "));
  EXPECT_THAT(Problem({.codec = CodecId::kTopK, .numbers = {{"seconds", 2}}}),
              StartsWith("seconds: a number of fixed"));
}

TEST(CompressionCheckTest, OnlyTopKSelects) {
  EXPECT_EQ(Problem({.codec = CodecId::kTopK, .selection = TopKSelection::kSampled}), "");
  for (CodecId codec : {CodecId::kRandomK, CodecId::kFp16}) {
    EXPECT_THAT(Problem({.codec = codec, .selection = TopKSelection::kSampled}),
                StartsWith("selection: none with codec"));
  }
}

TEST(CompressionCheckTest, OnlyTopKQuantizesAndPrunes) {
  for (const char* number : {"quantize_below", "quantize_rms", "prune_factor"}) {
    CompressionRule rule = {
        .codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense, .numbers = {{number, 0.25}}};
    EXPECT_EQ(Problem(rule), "");
    rule.codec = CodecId::kRandomK;
    EXPECT_EQ(Problem(rule), absl::StrCat(number, ": none with codec randomk, since only topk quantizes and prunes"));
    rule.codec = CodecId::kTopK;
    rule.controller = RatioControllerKind::kDa2;
    EXPECT_THAT(Problem(rule), StartsWith(absl::StrCat(number, ": a number of da2")));
  }
}

TEST(CompressionCheckTest, OnlyATransformHasALighterCodec) {
  CompressionRule rule = {.codec = CodecId::kTrimRht, .numbers = {{"light_below", 0.2}}};
  EXPECT_EQ(Problem(rule), "");
  rule.codec = CodecId::kTrimRhtLevels;
  EXPECT_EQ(Problem(rule), "");
  for (CodecId codec : {CodecId::kTrimSign, CodecId::kTopK, CodecId::kFp16}) {
    rule.codec = codec;
    EXPECT_EQ(Problem(rule), absl::StrCat("light_below: none with codec ", CodecName(codec),
                                          ", since only trim_rht and trim_rht_levels have a lighter one"));
  }
  rule.codec = CodecId::kTrimRht;
  rule.numbers = {{"light_below", 0.2}, {"ratio", 0.1}};
  EXPECT_THAT(Problem(rule), StartsWith("ratio: none with codec trim_rht, which sends every element"));
  rule.numbers = {{"light_below", 1.5}};
  EXPECT_EQ(Problem(rule), "light_below: a number from 0 to 1");
}

TEST(CompressionCheckTest, EveryCodecHasErrorFeedback) {
  for (CodecId codec : AllCodecIds()) {
    EXPECT_EQ(Problem({.codec = codec, .error_feedback = false}), "");
    EXPECT_EQ(Problem({.codec = codec, .error_feedback = true}), "");
  }
}

TEST(CompressionCheckTest, PatternsAreTextOfSomeLength) {
  EXPECT_EQ(Problem({.keys = std::string(1024, 'a')}), "");
  EXPECT_THAT(Problem({.keys = std::string(1025, 'a')}), StartsWith("keys: a pattern of 1 to 1024 bytes"));
  EXPECT_THAT(Problem({.keys = ""}), StartsWith("keys: a pattern"));
  EXPECT_THAT(Problem({.keys = "a\tb"}), StartsWith("keys: no control character"));
}

TEST(CompressionCheckTest, NumbersOfNothingAreRefused) {
  EXPECT_THAT(Problem({.codec = static_cast<CodecId>(16)}), StartsWith("codec: one of fp32, fp16"));
  EXPECT_THAT(Problem({.controller = static_cast<RatioControllerKind>(8)}), StartsWith("controller: one of fixed"));
}

}  // namespace
}  // namespace banyan
