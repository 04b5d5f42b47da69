#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/compression_check.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

constexpr absl::string_view kWhere = "compression";

// As it lies in the file, for messages.
const FilePlace& PlaceOf(const YamlValue& rule, absl::string_view key) {
  for (const YamlEntry& entry : rule.entries) {
    if (entry.key == key) return entry.value->place;
  }
  return rule.place;
}

CodecId ReadCodec(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Require("codec");
  if (value == nullptr) return CompressionRule().codec;
  if (IsWord(*value, "none") || IsWord(*value, "off")) {
    problems.Add(value->place, absl::StrCat(map.PathOf("codec"), ": unknown value ", Describe(*value),
                                            "; without compression values travel as fp32"));
    return CompressionRule().codec;
  }
  const std::optional<std::string> name = ReadWord(*value, map.PathOf("codec"), CodecNames(), problems);
  return name.has_value() ? *ParseCodecName(*name) : CompressionRule().codec;
}

RatioControllerKind ReadController(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Find("controller");
  if (value == nullptr) return CompressionRule().controller;
  const std::optional<std::string> name = ReadWord(*value, map.PathOf("controller"), RatioControllerNames(), problems);
  return name.has_value() ? *ParseRatioControllerKind(*name) : CompressionRule().controller;
}

std::optional<double> ReadRatioNumber(const YamlValue& value, const RatioNumber& number, absl::string_view where,
                                      YamlProblems& problems) {
  if (!number.is_whole) {
    const NumberUnit unit = number.is_time ? NumberUnit::kSeconds : NumberUnit::kNone;
    return ReadNumber(value, where, {.low = number.least, .high = number.greatest, .unit = unit}, problems);
  }
  const std::optional<int64_t> whole =
      ReadInteger(value, where, static_cast<int64_t>(number.least), static_cast<int64_t>(number.greatest), problems);
  if (!whole.has_value()) return std::nullopt;
  return static_cast<double>(*whole);
}

// Those of another controller are refused here, since they are no misspelt names.
std::vector<ControllerNumber> ReadNumbers(const YamlValue& rule, RatioControllerKind controller, YamlMapReader& map,
                                          YamlProblems& problems) {
  const std::vector<RatioNumber> known = NumbersOf(controller);
  std::vector<ControllerNumber> numbers;
  for (const RatioNumber& number : known) {
    const YamlValue* value = map.Find(number.name);
    if (value == nullptr) continue;
    const std::optional<double> read = ReadRatioNumber(*value, number, map.PathOf(number.name), problems);
    if (read.has_value()) numbers.push_back({std::string(number.name), *read});
  }
  for (const YamlEntry& entry : rule.entries) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&entry](const RatioNumber& number) { return number.name == entry.key; });
    if (is_known || !IsRatioNumber(entry.key)) continue;
    problems.Add(entry.value->place, absl::StrCat(map.PathOf(entry.key), ": the controller ", NameOf(controller),
                                                  " has no ", entry.key, "; remove it or choose another controller"));
  }
  return numbers;
}

TopKSelection ReadSelection(CodecId codec, YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Find("selection");
  if (value == nullptr) return TopKSelection::kExact;
  if (codec != CodecId::kTopK) {
    problems.Add(value->place, absl::StrCat(map.PathOf("selection"), ": only codec topk selects; remove it"));
  }
  const std::optional<std::string> name = ReadWord(*value, map.PathOf("selection"), {"exact", "sampled"}, problems);
  return name == "sampled" ? TopKSelection::kSampled : TopKSelection::kExact;
}

// All of a rule but its `keys`.
void ReadSettings(const YamlValue& value, YamlMapReader& map, CompressionRule& rule, YamlProblems& problems) {
  rule.codec = ReadCodec(map, problems);
  rule.controller = ReadController(map, problems);
  rule.numbers = ReadNumbers(value, rule.controller, map, problems);
  rule.selection = ReadSelection(rule.codec, map, problems);
  if (const YamlValue* feedback = map.Find("error_feedback"); feedback != nullptr) {
    rule.error_feedback = ReadBool(*feedback, map.PathOf("error_feedback"), problems);
  }
  if (!problems.status().ok()) return;
  if (const std::optional<FieldProblem> problem = FindRuleProblem(rule); problem.has_value()) {
    problems.Add(PlaceOf(value, problem->field),
                 absl::StrCat(map.PathOf(problem->field), ": expected ", problem->expected, ", got ", problem->came));
  }
}

CompressionRule ReadRule(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  CompressionRule rule;
  YamlMapReader map(value, where, problems);
  if (const YamlValue* keys = map.Require("keys"); keys != nullptr) {
    rule.keys = ReadText(*keys, map.PathOf("keys"), problems).value_or("*");
  }
  ReadSettings(value, map, rule, problems);
  map.Finish();
  return rule;
}

std::vector<CompressionRule> ReadRules(const YamlValue& value, YamlProblems& problems) {
  std::vector<CompressionRule> rules;
  if (value.kind != YamlValue::Kind::kSequence || value.items.size() > kMaxCompressionRules) {
    problems.Add(value.place, absl::StrCat("compression.rules: expected a list of at most ", kMaxCompressionRules,
                                           " rules such as {keys: \"*.weight\", codec: topk}, got ", Describe(value)));
    return rules;
  }
  for (size_t i = 0; i < value.items.size() && problems.status().ok(); ++i) {
    const std::string where = absl::StrCat("compression.rules[", i, "]");
    if (!rules.empty() && rules.back().keys == "*") {
      problems.Add(
          value.items[i]->place,
          absl::StrCat(where, ": the rule before has keys '*', so that this one matches nothing; put it first"));
    }
    rules.push_back(ReadRule(*value.items[i], where, problems));
  }
  return rules;
}

// As many digits as bring the same number back.
std::string NumberText(const ControllerNumber& number) {
  return absl::StrFormat(", %s: %.17g", number.name, number.value);
}

std::string RuleText(const CompressionRule& rule) {
  std::string text = absl::StrCat("{keys: \"", absl::StrReplaceAll(rule.keys, {{"\\", "\\\\"}, {"\"", "\\\""}}),
                                  "\", codec: ", CodecName(rule.codec));
  if (TraitsOf(rule.codec)->is_sparse) absl::StrAppend(&text, ", controller: ", NameOf(rule.controller));
  for (const ControllerNumber& number : rule.numbers) absl::StrAppend(&text, NumberText(number));
  if (rule.selection == TopKSelection::kSampled) absl::StrAppend(&text, ", selection: sampled");
  if (rule.error_feedback.has_value()) {
    absl::StrAppend(&text, ", error_feedback: ", *rule.error_feedback ? "true" : "false");
  }
  return text + "}";
}

}  // namespace

CompressionConfig ReadCompression(const YamlValue& value, YamlProblems& problems) {
  CompressionConfig config;
  YamlMapReader map(value, kWhere, problems);
  map.Integer("least_elements", 0, kMostLeastElements, config.least_elements);
  if (const YamlValue* rules = map.Find("rules"); rules != nullptr) {
    config.rules = ReadRules(*rules, problems);
  } else {
    ReadSettings(value, map, config.rules.emplace_back(), problems);
  }
  map.Finish();
  return config;
}

std::string CompressionText(const CompressionConfig& config) {
  if (config == CompressionConfig()) return "";
  std::vector<std::string> rules;
  for (const CompressionRule& rule : config.rules) rules.push_back(RuleText(rule));
  return absl::StrCat("compression: {least_elements: ", config.least_elements, ", rules: [", absl::StrJoin(rules, ", "),
                      "]}\n");
}

}  // namespace banyan
