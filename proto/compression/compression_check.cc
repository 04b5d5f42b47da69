#include "proto/compression/compression_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

std::optional<FieldProblem> FindPatternProblem(const std::string& keys) {
  if (keys.empty() || keys.size() > kMaxKeyPatternBytes) {
    return FieldProblem{"keys", absl::StrCat("a pattern of 1 to ", kMaxKeyPatternBytes, " bytes such as '*.weight'"),
                        absl::StrCat(keys.size(), " bytes")};
  }
  const auto control =
      std::find_if(keys.begin(), keys.end(), [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
  if (control == keys.end()) return std::nullopt;
  return FieldProblem{"keys", "no control character", absl::StrCat("one with code ", static_cast<int>(*control))};
}

// A dense codec sends every element, so there is nothing for a controller to choose.
std::optional<FieldProblem> FindDenseProblem(const CompressionRule& rule, const CodecTraits& codec) {
  const std::string expected =
      absl::StrCat(" with codec ", codec.name, ", which sends every element and has no ratio; topk and randomk have");
  if (rule.controller != RatioControllerKind::kFixed) {
    return FieldProblem{"controller", absl::StrCat("none", expected), std::string(NameOf(rule.controller))};
  }
  for (const ControllerNumber& number : rule.numbers) {
    if (number.name == kLightBelow) continue;
    return FieldProblem{number.name, absl::StrCat("none", expected), absl::StrCat(number.value)};
  }
  return std::nullopt;
}

// Only a transform costs what a light codec saves.
std::optional<FieldProblem> FindLightProblem(const CompressionRule& rule, const CodecTraits& codec) {
  if (rule.codec == CodecId::kTrimRht || rule.codec == CodecId::kTrimRhtLevels) return std::nullopt;
  for (const ControllerNumber& number : rule.numbers) {
    if (number.name != kLightBelow) continue;
    return FieldProblem{
        number.name,
        absl::StrCat("none with codec ", codec.name, ", since only trim_rht and trim_rht_levels have a lighter one"),
        absl::StrCat(number.value)};
  }
  return std::nullopt;
}

// NetSenseML's Algorithm 2 chooses between elements, and writes halves, where top-k does.
std::optional<FieldProblem> FindStepsProblem(const CompressionRule& rule, const CodecTraits& codec) {
  if (rule.controller != RatioControllerKind::kNetSense || rule.codec == CodecId::kTopK) return std::nullopt;
  for (const ControllerNumber& number : rule.numbers) {
    if (!IsEncodingNumber(number.name)) continue;
    return FieldProblem{number.name,
                        absl::StrCat("none with codec ", codec.name, ", since only topk quantizes and prunes"),
                        absl::StrCat(number.value)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FieldProblem> FindRuleProblem(const CompressionRule& rule) {
  if (auto problem = FindPatternProblem(rule.keys); problem.has_value()) return problem;
  const CodecTraits* codec = TraitsOf(rule.codec);
  if (codec == nullptr) {
    return FieldProblem{"codec", absl::StrCat("one of ", absl::StrJoin(CodecNames(), ", ")),
                        absl::StrCat("number ", static_cast<int>(rule.codec))};
  }
  RatioControllerConfig config;
  if (auto problem = SetRatioNumbers(rule.controller, rule.numbers, &config); problem.has_value()) return problem;
  if (!codec->is_sparse) {
    if (auto problem = FindDenseProblem(rule, *codec); problem.has_value()) return problem;
  }
  if (auto problem = FindStepsProblem(rule, *codec); problem.has_value()) return problem;
  if (auto problem = FindLightProblem(rule, *codec); problem.has_value()) return problem;
  if (rule.selection != TopKSelection::kExact && rule.codec != CodecId::kTopK) {
    return FieldProblem{"selection", absl::StrCat("none with codec ", codec->name, ", since only topk selects"),
                        "sampled"};
  }
  return std::nullopt;
}

}  // namespace banyan
