#include "precision/profile/operating_profile.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

constexpr int64_t kMostSteps = 1000 * 1000 * 1000;
constexpr NumberRange kShare = {.low = 0, .high = 1};

// Reads a word that stands for a value.
template <typename Value>
void Choice(YamlMapReader& map, absl::string_view key, const std::vector<std::pair<std::string, Value>>& known,
            YamlProblems& problems, Value& out) {
  const YamlValue* value = map.Find(key);
  if (value == nullptr) return;
  std::vector<std::string> names;
  for (const auto& [name, unused] : known) names.push_back(name);
  const std::optional<std::string> word = ReadWord(*value, map.PathOf(key), names, problems);
  for (const auto& [name, meaning] : known) {
    if (word == name) out = meaning;
  }
}

// Calls read(map) with the section `key`, where it is there.
template <typename Read>
void Section(YamlMapReader& file, absl::string_view key, YamlProblems& problems, Read read) {
  const YamlValue* value = file.Find(key);
  if (value == nullptr) return;
  YamlMapReader map(*value, key, problems);
  read(map);
  map.Finish();
}

void ReadFormat(YamlMapReader& map, VoteRules& rules, YamlProblems& problems) {
  Choice<ZeroGate>(map, "gate", {{"sender", ZeroGate::kSender}, {"result", ZeroGate::kResult}}, problems, rules.gate);
  map.Number("sender_threshold", {.low = 0, .high = 10}, rules.sender_threshold);
  map.Number("result_margin", {.low = 0, .high = 1}, rules.result_margin);
  Choice<VoteAggregate>(map, "aggregate", {{"majority", VoteAggregate::kMajority}, {"mean", VoteAggregate::kMean}},
                        problems, rules.aggregate);
  Choice<TieRule>(map, "tie", {{"zero", TieRule::kZero}, {"positive", TieRule::kPositive}}, problems, rules.tie);
  if (rules.aggregate != VoteAggregate::kMean || rules.gate != ZeroGate::kResult) return;
  problems.Add(map.PlaceOf("gate"), absl::StrCat(map.PathOf("gate"),
                                                 ": a mean has no zeros to make at its result; gate at the sender, or "
                                                 "aggregate by majority"));
}

void ReadMode(YamlMapReader& file, OperatingProfile& profile, YamlProblems& problems) {
  const YamlValue* value = file.Require("mode");
  if (value == nullptr) return;
  const std::optional<std::string> word = ReadWord(*value, "mode", {"binary", "ternary", "none"}, problems);
  profile.has_low_bit = word != "none";
  profile.rules.family = word == "ternary" ? LowBitFamily::kTernary : LowBitFamily::kBinary;
  // What a cleverer packing than two planes of bits could reach, and what the paper counts.
  profile.bits_per_element = word == "ternary" ? std::log2(3.0) : 1.0;
}

void ReadAdmission(YamlMapReader& map, AdmissionLimits& limits) {
  map.Integer("warmup_steps", 1, kMostSteps, limits.warmup_steps);
  map.Number("least_sign_agreement", {.low = 0.5, .high = 1}, limits.least_sign_agreement);
  map.Number("most_near_zero", kShare, limits.most_near_zero);
  map.Number("least_cosine", {.low = -1, .high = 1}, limits.least_cosine);
  map.Number("most_loss_rise", {.low = -1e9, .high = 1e9}, limits.most_loss_rise);
}

void ReadDetector(YamlMapReader& map, DetectorProfile& detector) {
  map.Require("slack");
  map.Require("threshold");
  map.Number("slack", {.low = 0, .high = 1e9}, detector.slack);
  map.Number("threshold", {.low = 0, .high = 1e9, .low_allowed = false}, detector.threshold);
  map.Number("smoothing", {.low = 0, .high = 1, .low_allowed = false}, detector.smoothing);
}

void ReadRecovery(YamlMapReader& map, RecoveryProfile& recovery) {
  map.Integer("cooldown_steps", 1, kMostSteps, recovery.cooldown_steps);
  map.Integer("readmission_steps", 0, kMostSteps, recovery.readmission_steps);
  map.Integer("guard_steps", 0, kMostSteps, recovery.guard_steps);
  map.Number("guard_factor", {.low = 1, .high = 1000}, recovery.guard_factor);
}

void ReadExposure(YamlMapReader& map, ExposureProfile& exposure) {
  map.Number("bound", kShare, exposure.bound);
  map.Number("band", kShare, exposure.band);
  map.Integer("interval_steps", 1, kMostSteps, exposure.interval_steps);
}

void ReadControls(YamlMapReader& file, OperatingProfile& profile, YamlProblems& problems) {
  const YamlValue* value = file.Find("controls");
  if (value == nullptr) return;
  const std::optional<std::string> name = ReadWord(*value, "controls", ControlSettingNames(), problems);
  if (name.has_value()) profile.controls = *NamedControls(*name);
}

void ReadFile(YamlMapReader& file, OperatingProfile& profile, YamlProblems& problems) {
  ReadSchema(file, kProfileSchema, "a profile", problems);
  ReadTextOf(file, "profile", true, profile.name, problems);
  profile.provenance = ReadProvenance(file, problems);
  ReadMode(file, profile, problems);
  Choice<PrecisionScope>(
      file, "scope",
      {{"model", PrecisionScope::kModel}, {"role", PrecisionScope::kRole}, {"tensor", PrecisionScope::kTensor}},
      problems, profile.scope);
  Section(file, "format", problems, [&](YamlMapReader& map) { ReadFormat(map, profile.rules, problems); });
  file.Number("bits_per_element", {.low = 0, .high = 32, .low_allowed = false}, profile.bits_per_element);
  Section(file, "admission", problems, [&](YamlMapReader& map) { ReadAdmission(map, profile.admission); });
  if (profile.has_low_bit) file.Require("detector");
  Section(file, "detector", problems, [&](YamlMapReader& map) { ReadDetector(map, profile.detector); });
  Section(file, "recovery", problems, [&](YamlMapReader& map) { ReadRecovery(map, profile.recovery); });
  Section(file, "exposure", problems, [&](YamlMapReader& map) { ReadExposure(map, profile.exposure); });
  ReadControls(file, profile, problems);
  Choice<bool>(file, "guard", {{"endpoint", true}, {"forced", false}}, problems, profile.has_guard);
  file.Finish();
}

}  // namespace

absl::StatusOr<OperatingProfile> ReadProfile(absl::string_view text, absl::string_view file_name) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  OperatingProfile profile;
  YamlProblems problems(file_name);
  YamlMapReader file(document->root(), "", problems);
  ReadFile(file, profile, problems);
  if (!problems.status().ok()) return problems.status();
  return profile;
}

}  // namespace banyan
