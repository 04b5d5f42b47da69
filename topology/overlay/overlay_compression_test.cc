#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/compression_check.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kNodes[] = "nodes: [{name: a}, {name: b}]\n";

CompressionConfig Parsed(const std::string& section) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(kNodes + section, "o.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status() << "\n" << section;
  return overlay.ok() ? overlay->compression : CompressionConfig();
}

TEST(OverlayCompressionTest, NoSectionMeansFp32) {
  EXPECT_EQ(Parsed(""), CompressionConfig());
  EXPECT_TRUE(Parsed("").rules.empty());
  EXPECT_EQ(Parsed("").least_elements, 1024);
}

TEST(OverlayCompressionTest, TheShortFormIsOneRuleForAllTensors) {
  const CompressionConfig expected = {.rules = {{.keys = "*",
                                                 .codec = CodecId::kTopK,
                                                 .controller = RatioControllerKind::kNetSense,
                                                 .numbers = {{"increase_step", 0.02}},
                                                 .selection = TopKSelection::kSampled,
                                                 .error_feedback = true}},
                                      .least_elements = 2000};
  EXPECT_EQ(Parsed("compression: {codec: topk, controller: netsense, increase_step: 0.02, selection: sampled, "
                   "error_feedback: true, least_elements: 2000}\n"),
            expected);
}

TEST(OverlayCompressionTest, TheLongFormHasRulesInTheirOrder) {
  const CompressionConfig expected = {
      .rules = {{.keys = "*.weight", .codec = CodecId::kTopK, .numbers = {{"ratio", 0.01}}},
                {.keys = "b*", .codec = CodecId::kRandomK, .error_feedback = false},
                {.keys = "*", .codec = CodecId::kFp16}},
      .least_elements = 0};
  EXPECT_EQ(Parsed("compression:\n"
                   "  least_elements: 0\n"
                   "  rules:\n"
                   "    - {keys: \"*.weight\", codec: topk, controller: fixed, ratio: 0.01}\n"
                   "    - {keys: b*, codec: randomk, error_feedback: false}\n"
                   "    - {keys: '*', codec: fp16}\n"),
            expected);
}

TEST(OverlayCompressionTest, NoRulesMeanFp32) { EXPECT_EQ(Parsed("compression: {rules: []}\n"), CompressionConfig()); }

TEST(OverlayCompressionTest, SparseCodecsHaveAFixedRatioOfATenthByDefault) {
  for (const char* codec : {"topk", "randomk"}) {
    const CompressionConfig config = Parsed(absl::StrCat("compression: {codec: ", codec, "}\n"));
    ASSERT_EQ(config.rules.size(), 1u);
    EXPECT_EQ(config.rules[0].controller, RatioControllerKind::kFixed);
    EXPECT_EQ(MakeRatioControllerConfig(config.rules[0])->fixed.ratio, 0.1);
    EXPECT_FALSE(config.rules[0].error_feedback.has_value());
  }
}

TEST(OverlayCompressionTest, EveryCodecHasItsName) {
  for (CodecId codec : AllCodecIds()) {
    const CompressionConfig config = Parsed(absl::StrCat("compression: {codec: ", CodecName(codec), "}\n"));
    ASSERT_EQ(config.rules.size(), 1u);
    EXPECT_EQ(config.rules[0].codec, codec);
  }
}

// With RatioNumbersTest and RatioControllerFactoryTest: every field of every controller can be set from the file.
TEST(OverlayCompressionTest, EveryNumberOfEveryControllerIsRead) {
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    for (const RatioNumber& number : NumbersOf(kind)) {
      const double value = number.get({.kind = kind});
      const absl::string_view codec = number.name == kLightBelow ? "trim_rht" : "topk";
      const CompressionConfig config = Parsed(absl::StrCat(
          "compression: {codec: ", codec, ", controller: ", NameOf(kind), ", ", number.name, ": ", value, "}\n"));
      ASSERT_EQ(config.rules.size(), 1u);
      const std::vector<ControllerNumber> expected = {{std::string(number.name), value}};
      EXPECT_EQ(config.rules[0].numbers, expected) << NameOf(kind) << "." << number.name;
      EXPECT_EQ(config.rules[0].controller, kind);
    }
  }
}

CompressionRule AnyRule(Random& random) {
  CompressionRule rule;
  const std::vector<CodecId> codecs = AllCodecIds();
  rule.keys = absl::StrCat("k", random.Below(100), random.Chance(0.5) ? "*" : "\" \\: #");
  rule.codec = codecs[random.Below(codecs.size())];
  if (TraitsOf(rule.codec)->is_sparse) {
    const std::vector<RatioControllerKind> kinds = AllRatioControllerKinds();
    rule.controller = kinds[random.Below(kinds.size())];
    for (const RatioNumber& number : NumbersOf(rule.controller)) {
      if (random.Chance(0.5)) continue;
      const double value = number.is_whole ? number.least : number.least + (number.greatest - number.least) / 3;
      rule.numbers.push_back({std::string(number.name), value});
    }
  }
  if (rule.codec == CodecId::kTopK && random.Chance(0.5)) rule.selection = TopKSelection::kSampled;
  if (random.Chance(0.5)) rule.error_feedback = random.Chance(0.5);
  return rule;
}

TEST(OverlayCompressionTest, TheTextOfASectionIsReadBack) {
  Random random(4);
  CompressionConfig none;
  EXPECT_EQ(FileText(CompressionSlot(none)), "");
  int checked = 0;
  for (int i = 0; i < 500; ++i) {
    CompressionConfig config;
    config.least_elements = random.Between(0, 5000);
    for (uint64_t left = random.Below(4); left > 0; --left) {
      const CompressionRule rule = AnyRule(random);
      if (!FindRuleProblem(rule).has_value()) config.rules.push_back(rule);
    }
    const std::string section = FileText(CompressionSlot(config));
    EXPECT_EQ(Parsed(section.empty() ? "" : absl::StrCat("compression: ", section, "\n")), config) << section;
    checked += config.rules.empty() ? 0 : 1;
  }
  EXPECT_GT(checked, 200);
}

struct Refusal {
  std::string name;
  std::string section;
  int line;
  std::string message;  // a part of it
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class OverlayCompressionRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(OverlayCompressionRefusalTest, NamesLineAndReason) {
  const absl::Status status = ParseOverlay(kNodes + GetParam().section, "o.yaml").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("o.yaml:" + std::to_string(GetParam().line) + ":"));
  EXPECT_THAT(std::string(status.message()), ContainsRegex("^o\\.yaml:[0-9]+:[0-9]+: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

std::string Short(const std::string& settings) { return "compression: {" + settings + "}\n"; }

std::string Rules(const std::string& rules) { return "compression:\n  rules:\n" + rules; }

std::string NameOfCase(const ::testing::TestParamInfo<Refusal>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Form, OverlayCompressionRefusalTest,
    ::testing::Values(
        Refusal{"NoMap", "compression: topk\n", 2, "compression: expected a map of keys and values, got 'topk'"},
        Refusal{"Nothing", "compression: {}\n", 2, "compression.codec is missing"},
        Refusal{"UnknownKey", Short("codec: topk, selektion: sampled"), 2,
                "compression: unknown key 'selektion'; did you mean 'selection'?"},
        Refusal{"UnknownNumber", Short("codec: topk, controller: netsense, increse_step: 1"), 2,
                "unknown key 'increse_step'; did you mean 'increase_step'?"},
        Refusal{"KeysOfTheShortForm", Short("codec: topk, keys: a"), 2, "compression: unknown key 'keys'"},
        Refusal{"ShortAndLong", Short("codec: topk, rules: []"), 2,
                "compression: unknown key 'codec'; known are least_elements, rules"},
        Refusal{"RulesNoList", Short("rules: {codec: topk}"), 2, "compression.rules: expected a list of at most 256"},
        Refusal{"RuleNoMap", Rules("    - topk\n"), 4, "compression.rules[0]: expected a map"},
        Refusal{"RuleWithoutKeys", Rules("    - {keys: a, codec: topk}\n    - {codec: topk}\n"), 5,
                "compression.rules[1].keys is missing"},
        Refusal{"RuleWithoutCodec", Rules("    - {keys: a}\n"), 4, "compression.rules[0].codec is missing"},
        Refusal{"EmptyKeys", Rules("    - {keys: '', codec: topk}\n"), 4, "compression.rules[0].keys: expected text"},
        Refusal{"ControlKeys", Rules("    - {codec: topk,\n       keys: \"a\\tb\"}\n"), 5,
                "compression.rules[0].keys: expected no control character"},
        Refusal{"LongKeys", Rules("    - {keys: " + std::string(1025, 'k') + ", codec: topk}\n"), 4,
                "rules[0].keys: expected a pattern of 1 to 1024 bytes such as '*.weight', got 1025 bytes"},
        Refusal{"BehindAll", Rules("    - {keys: '*', codec: fp16}\n    - {keys: a, codec: topk}\n"), 5,
                "compression.rules[1]: the rule before has keys '*'"},
        Refusal{"NegativeElements", Short("codec: topk, least_elements: -1"), 2,
                "compression.least_elements: expected a whole number of at least 0"}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Values, OverlayCompressionRefusalTest,
    ::testing::Values(
        Refusal{"Codec", Short("codec: top_k"), 2, "compression.codec: unknown value 'top_k'; did you mean 'topk'?"},
        Refusal{"CodecNoWord", Short("codec: [topk]"), 2, "compression.codec: expected one of fp32, fp16"},
        Refusal{"Controller", Short("codec: topk, controller: netsens"), 2,
                "compression.controller: unknown value 'netsens'; did you mean 'netsense'?"},
        Refusal{"Selection", Short("codec: topk, selection: sample"), 2, "'sample'; did you mean 'sampled'?"},
        Refusal{"Feedback", Short("codec: topk, error_feedback: yes"), 2,
                "compression.error_feedback: expected true or false, got 'yes'"},
        Refusal{"RatioRange", Short("codec: topk, ratio: 1.5"), 2,
                "compression.ratio: expected a number of at least 1e-06 and at most 1, got '1.5'"},
        Refusal{"RatioNoNumber", Short("codec: topk, ratio: many"), 2, "compression.ratio: expected a number"},
        Refusal{"RatioNan", Short("codec: topk, ratio: .nan"), 2, "compression.ratio: expected a number"},
        Refusal{"FractionOfARound", Short("codec: topk, controller: da2, window_rounds: 2.5"), 2,
                "compression.window_rounds: expected a whole number of at least 1 and at most 100000, got '2.5'"},
        Refusal{"PruneFactor", Short("codec: topk, controller: netsense, prune_factor: 0.6"), 2,
                "compression.prune_factor: expected a number of at least 0 and at most 0.5, got '0.6'"},
        Refusal{"QuantizeName", Short("codec: topk, controller: netsense, quantise_below: 0.6"), 2,
                "unknown key 'quantise_below'; did you mean 'quantize_below'?"},
        Refusal{"BudgetOfAnHourAndMore", Short("codec: topk, controller: budget, seconds: 2h"), 2,
                "compression.seconds: expected a number of at least 0.001 and at most 3600 in seconds, or a time"},
        Refusal{"LineOfANumber",
                Rules("    - keys: a\n      codec: topk\n      controller: budget\n      seconds: 0\n"), 7,
                "compression.rules[0].seconds: expected a number of at least 0.001 and at most 3600"}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Contradictions, OverlayCompressionRefusalTest,
    ::testing::Values(
        Refusal{"NumberOfAnother", Short("codec: topk, controller: da1, increase_step: 0.1"), 2,
                "compression.increase_step: the controller da1 has no increase_step; remove it or choose another"},
        Refusal{"NumberOfNone", Short("codec: topk, seconds: 1"), 2, "the controller fixed has no seconds"},
        Refusal{"DenseController", Short("codec: int8, controller: netsense"), 2,
                "compression.controller: expected none with codec int8, which sends every element and has no ratio; "
                "topk and randomk have, got netsense"},
        Refusal{"DenseRatio", Rules("    - keys: a\n      codec: fp16\n      ratio: 0.1\n"), 6,
                "compression.rules[0].ratio: expected none with codec fp16"},
        Refusal{"DenseSelection", Short("codec: fp16, selection: exact"), 2, "only codec topk selects"},
        Refusal{"RandomSteps", Short("codec: randomk, controller: netsense, prune_factor: 0.2"), 2,
                "compression.prune_factor: expected none with codec randomk, since only topk quantizes and prunes"},
        Refusal{"StepsOfAnother", Rules("    - keys: a\n      codec: topk\n      quantize_below: 0.2\n"), 6,
                "rules[0].quantize_below: the controller fixed has no quantize_below; remove it or choose another"},
        Refusal{"RandomSelection", Short("codec: randomk, selection: sampled"), 2,
                "compression.selection: only codec topk selects"},
        Refusal{"Order", Rules("    - keys: a\n      codec: topk\n      controller: da2\n      greatest_ratio: 0.1\n"),
                7, "rules[0].greatest_ratio: expected at least the start_ratio of 0.3 (its default), got 0.1"}),
    NameOfCase);

TEST(OverlayCompressionLimitTest, TooManyRules) {
  std::string rules;
  for (int i = 0; i < kMaxCompressionRules; ++i) rules += "    - {keys: a, codec: topk}\n";
  EXPECT_EQ(Parsed(Rules(rules)).rules.size(), 256u);
  const absl::Status status = ParseOverlay(kNodes + Rules(rules + "    - {keys: a, codec: topk}\n"), "o.yaml").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("compression.rules: expected a list of at most 256 rules"));
}

}  // namespace
}  // namespace banyan
