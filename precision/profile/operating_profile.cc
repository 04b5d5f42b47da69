#include "precision/profile/operating_profile.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_slots.h"
#include "xxhash.h"

namespace banyan {
namespace {

constexpr int64_t kMostSteps = 1000 * 1000 * 1000;

YamlSlot Format(VoteRules& rules) {
  return Map({{"gate", Word(rules.gate, {"sender", "result"})},
              {"sender_threshold", Number(rules.sender_threshold, Numbers(0, 10))},
              {"result_margin", Number(rules.result_margin, Numbers(0, 1))},
              {"aggregate", Word(rules.aggregate, {"majority", "mean"})},
              {"tie", Word(rules.tie, {"zero", "positive"})}},
             [&rules](YamlMapReader& map, YamlProblems& problems) {
               if (rules.aggregate != VoteAggregate::kMean || rules.gate != ZeroGate::kResult) return;
               problems.Add(map.PlaceOf("gate"),
                            absl::StrCat(map.PathOf("gate"),
                                         ": a mean has no zeros to make at its result; gate at the sender, or "
                                         "aggregate by majority"));
             });
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

void ReadControls(YamlMapReader& file, OperatingProfile& profile, YamlProblems& problems) {
  const YamlValue* value = file.Find("controls");
  if (value == nullptr) return;
  const std::optional<std::string> name = ReadWord(*value, "controls", ControlSettingNames(), problems);
  if (name.has_value()) profile.controls = *NamedControls(*name);
}

void ReadFile(YamlMapReader& file, OperatingProfile& profile, YamlProblems& problems) {
  ReadSchema(file, kProfileSchema, "a profile", problems);
  ReadKeys(file, {{"profile", Required(Text(profile.name))}}, problems);
  profile.provenance = ReadProvenance(file, problems);
  ReadMode(file, profile, problems);
  AdmissionLimits& limits = profile.admission;
  DetectorProfile& detector = profile.detector;
  RecoveryProfile& recovery = profile.recovery;
  ExposureProfile& exposure = profile.exposure;
  YamlSlot detector_slot = Map({{"slack", Required(Number(detector.slack, Numbers(0, 1e9)))},
                                {"threshold", Required(Number(detector.threshold, Above(0, 1e9)))},
                                {"smoothing", Number(detector.smoothing, Above(0, 1))},
                                {"most_metric_drop", Number(detector.most_metric_drop, Numbers(0, 1e9))}});
  detector_slot.is_required = profile.has_low_bit;
  ReadKeys(file,
           {{"scope", Word(profile.scope, {"model", "role", "tensor"})},
            {"format", Format(profile.rules)},
            {"bits_per_element", Number(profile.bits_per_element, Above(0, 32))},
            {"admission", Map({{"warmup_steps", Number(limits.warmup_steps, Count(1, kMostSteps))},
                               {"least_sign_agreement", Number(limits.least_sign_agreement, Numbers(0.5, 1))},
                               {"most_near_zero", Number(limits.most_near_zero, Numbers(0, 1))},
                               {"least_cosine", Number(limits.least_cosine, Numbers(-1, 1))},
                               {"most_loss_rise", Number(limits.most_loss_rise, Numbers(-1e9, 1e9))}})},
            {"detector", std::move(detector_slot)},
            {"recovery", Map({{"cooldown_steps", Number(recovery.cooldown_steps, Count(1, kMostSteps))},
                              {"readmission_steps", Number(recovery.readmission_steps, Count(0, kMostSteps))},
                              {"guard_steps", Number(recovery.guard_steps, Count(0, kMostSteps))},
                              {"guard_factor", Number(recovery.guard_factor, Numbers(1, 1000))}})},
            {"exposure", Map({{"bound", Number(exposure.bound, Numbers(0, 1))},
                              {"band", Number(exposure.band, Numbers(0, 1))},
                              {"interval_steps", Number(exposure.interval_steps, Count(1, kMostSteps))}})}},
           problems);
  ReadControls(file, profile, problems);
  ReadKeys(file, {{"guard", Word(profile.has_guard, {"forced", "endpoint"})}}, problems);
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
  profile.digest = XXH3_64bits(text.data(), text.size());
  return profile;
}

Provenance ReadProvenance(YamlMapReader& file, YamlProblems& problems) {
  Provenance provenance;
  ReadKeys(file,
           {{"provenance", Required(Map({{"source", Required(Text(provenance.source))},
                                         {"made_by", Required(Text(provenance.made_by))},
                                         {"evidence", Text(provenance.evidence)}}))}},
           problems);
  return provenance;
}

void ReadSchema(YamlMapReader& file, int known, absl::string_view what, YamlProblems& problems) {
  int schema = known;
  ReadKeys(file, {{"schema", Required(Number(schema, Count(0, std::numeric_limits<int32_t>::max())))}}, problems);
  if (schema == known) return;
  problems.Add(file.PlaceOf("schema"),
               absl::StrFormat("schema: expected %d, which is what this version reads of %s, got %d; write the file "
                               "anew, or use the version that wrote it",
                               known, what, schema));
}

}  // namespace banyan
