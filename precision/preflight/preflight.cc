#include "precision/preflight/preflight.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compression/counts/count_planes.h"
#include "core/json_writer.h"
#include "precision/audit/route_audit.h"
#include "precision/control/precision_controller.h"
#include "precision/profile/binding_proposal.h"

namespace banyan {
namespace {

// So many names are shown of a list.
constexpr size_t kMostNames = 3;

std::string Names(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMostNames);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", ");
  if (names.size() > shown) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

PreflightCheck CheckCoverage(const PreflightInput& input) {
  if (input.tensors.empty()) return {"coverage", true, "not checked: no list of the model's tensors was given"};
  std::vector<std::string> unnamed;
  std::vector<std::string> other_size;
  std::set<std::string> known;
  for (const NamedShape& tensor : input.tensors) {
    known.insert(tensor.name);
    const TensorBinding* bound = input.binding.Find(tensor.name);
    if (bound == nullptr) {
      unnamed.push_back(tensor.name);
    } else if (bound->elements != tensor.elements()) {
      other_size.push_back(
          absl::StrFormat("%s (expected %d elements, bound %d)", tensor.name, tensor.elements(), bound->elements));
    }
  }
  std::vector<std::string> foreign;
  for (const TensorBinding& tensor : input.binding.tensors()) {
    if (!known.contains(tensor.name)) foreign.push_back(tensor.name);
  }
  if (!other_size.empty()) return {"coverage", false, absl::StrCat("of another size: ", Names(other_size))};
  if (!foreign.empty()) {
    return {"coverage", false, absl::StrCat("bound, and not in the model: ", Names(foreign), "; bind the model anew")};
  }
  if (!unnamed.empty()) {
    return {"coverage", false,
            absl::StrCat("not bound, and so fp32: ", Names(unnamed), "; bind them as fp32 if so meant")};
  }
  return {"coverage", true, absl::StrFormat("all %d tensors are bound", input.tensors.size())};
}

// What names and shapes say of sensitive tensors, beside the role that the binding gives them.
PreflightCheck CheckSensitivity(const PreflightInput& input) {
  const PrecisionBinding proposal =
      ProposeBinding(input.tensors, input.profile.rules.family, "proposal", "the list of tensors");
  std::vector<std::string> suspicious;
  for (const TensorBinding& tensor : input.binding.tensors()) {
    const TensorBinding* proposed = proposal.Find(tensor.name);
    const bool is_sensitive = proposed != nullptr && IsSensitive(proposed->slices[0].role);
    for (const SliceBinding& slice : tensor.slices) {
      if (!slice.is_candidate || !(IsSensitive(slice.role) || is_sensitive)) continue;
      suspicious.push_back(
          absl::StrCat(tensor.name, " (", is_sensitive ? proposed->slices[0].reason : "its role", ")"));
    }
  }
  if (suspicious.empty()) return {"sensitive roles", true, "all of them stay fp32"};
  return {"sensitive roles", false, absl::StrCat("may go low-bit: ", Names(suspicious), "; bind them as fp32")};
}

PreflightCheck CheckFamily(const PreflightInput& input) {
  std::vector<std::string> others;
  for (const TensorBinding& tensor : input.binding.tensors()) {
    for (const SliceBinding& slice : tensor.slices) {
      if (slice.is_candidate && slice.family.value_or(input.profile.rules.family) != input.profile.rules.family) {
        others.push_back(tensor.name);
      }
    }
  }
  const absl::string_view family = FamilyName(input.profile.rules.family);
  if (others.empty()) return {"family", true, absl::StrCat("all candidates allow ", family)};
  return {"family", false, absl::StrCat("bound for another family than the profile's ", family, ": ", Names(others))};
}

PreflightCheck CheckShare(const PreflightInput& input, PreflightReport& report) {
  int64_t elements = input.binding.elements();
  if (!input.tensors.empty()) {
    elements = 0;
    for (const NamedShape& tensor : input.tensors) elements += tensor.elements();
  }
  const int64_t candidates = input.binding.candidate_elements();
  if (elements > 0) report.candidate_share = static_cast<double>(candidates) / static_cast<double>(elements);
  const double bits = input.profile.bits_per_element;
  report.static_traffic = TrafficRatio(1, report.candidate_share, bits);
  report.bound_traffic = TrafficRatio(input.profile.exposure.bound, report.candidate_share, bits);
  const std::string detail = absl::StrFormat(
      "%.2f%% of %d elements may go low-bit; modelled traffic at %.3f bits per element: %.3f times fp32 with all "
      "rounds low-bit, %.3f at the exposure bound of %.2f",
      100 * report.candidate_share, elements, bits, report.static_traffic, report.bound_traffic,
      input.profile.exposure.bound);
  return {"expected share", candidates > 0,
          candidates > 0 ? detail : "no slice may go low-bit; there is nothing to run"};
}

PreflightCheck CheckVoters(const PreflightInput& input) {
  const bool zero_votes = HasZeroVotes(input.profile.rules);
  const int width = CountWidth(input.workers) * (zero_votes ? 2 : 1);
  const bool ties = !zero_votes && input.workers % 2 == 0 && input.profile.rules.aggregate == VoteAggregate::kMajority;
  std::string detail = absl::StrFormat("%d voters: counts take up to %d bits per element", input.workers, width);
  if (ties) {
    absl::StrAppend(&detail, "; their number is even, so votes may tie, which ",
                    input.profile.rules.tie == TieRule::kZero ? "makes a zero and a second bit on the way down"
                                                              : "counts as a plus");
  }
  return {"voters", input.workers <= kMaxVotes, std::move(detail)};
}

// Rounds of each stage after the warm-up.
constexpr int64_t kStageSteps = 5;

class Rehearsal {
 public:
  Rehearsal(const OperatingProfile& profile, const PrecisionBinding& binding)
      : profile_(profile), binding_(binding), controller_(profile, binding) {}

  // Runs a stage of `steps` rounds, at least one of which must show `expected` where a candidate may go low-bit; the
  // others may be what a budget makes of them. What is no candidate is plain in each.
  PreflightStage Run(const std::string& name, int64_t steps, PrecisionRoute expected) {
    PreflightStage stage{name, true, ""};
    int64_t as_expected = 0;
    for (int64_t i = 0; i < steps; ++i) as_expected += Round(expected) ? 1 : 0;
    const bool all = expected != PrecisionRoute::kLowBit;
    stage.is_right = are_others_plain_ && (all ? as_expected == steps : as_expected > 0);
    stage.detail = absl::StrFormat("%d of %d rounds had the route %s where it is allowed", as_expected, steps,
                                   RouteName(expected));
    if (!are_others_plain_) absl::StrAppend(&stage.detail, "; a slice that may not go low-bit did");
    if (!stage.is_right && !refusal().empty()) absl::StrAppendFormat(&stage.detail, "; %s", refusal());
    return stage;
  }

  PrecisionController& controller() { return controller_; }

 private:
  bool Round(PrecisionRoute expected) {
    controller_.BeginRound();
    ++step_;
    int64_t allowed = 0;
    int64_t right = 0;
    for (const TensorBinding& tensor : binding_.tensors()) {
      for (const SliceBinding& slice : binding_.SlicesOf(tensor.name, tensor.elements)) {
        const bool is_candidate =
            slice.is_candidate && slice.family.value_or(profile_.rules.family) == profile_.rules.family;
        const PrecisionRoute route = controller_.RouteOf(tensor.name, slice);
        are_others_plain_ = are_others_plain_ && (is_candidate || route == PrecisionRoute::kPlain);
        allowed += is_candidate ? 1 : 0;
        right += is_candidate && route == expected ? 1 : 0;
      }
    }
    // A loss that falls evenly, as far as one can.
    const double loss = 1.0 / static_cast<double>(step_);
    controller_.Observe({step_, loss, 0, 1, std::nullopt});
    return allowed > 0 && right == allowed;
  }

  std::string refusal() const {
    for (const auto& [scope, admission] : controller_.admissions()) {
      if (!admission.is_admitted) return absl::StrFormat("scope %s: %s", scope, admission.reason);
    }
    return "";
  }

  const OperatingProfile& profile_;
  const PrecisionBinding& binding_;
  PrecisionController controller_;
  int64_t step_ = 0;
  bool are_others_plain_ = true;
};

}  // namespace

std::vector<PreflightStage> RunPreflightStages(const OperatingProfile& profile, const PrecisionBinding& binding) {
  OperatingProfile rehearsed = profile;
  rehearsed.admission.warmup_steps = std::min(profile.admission.warmup_steps, kMostPreflightSteps);
  Rehearsal rehearsal(rehearsed, binding);
  std::vector<PreflightStage> stages;
  if (profile.controls.warmup) {
    stages.push_back(rehearsal.Run("warm-up", rehearsed.admission.warmup_steps, PrecisionRoute::kPlain));
  }
  stages.push_back(rehearsal.Run("admission", kStageSteps, PrecisionRoute::kLowBit));
  rehearsal.controller().ForceVeto(true);
  stages.push_back(rehearsal.Run("forced veto", kStageSteps, PrecisionRoute::kFallback));
  rehearsal.controller().ForceVeto(false);
  stages.push_back(rehearsal.Run("after the veto", kStageSteps, PrecisionRoute::kLowBit));
  return stages;
}

bool PreflightReport::is_passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const PreflightCheck& check) { return check.is_passed; });
}

PreflightReport RunPreflight(const PreflightInput& input) {
  PreflightReport report;
  report.checks = {CheckCoverage(input), CheckSensitivity(input), CheckFamily(input), CheckShare(input, report),
                   CheckVoters(input)};
  for (PreflightStage& stage : RunPreflightStages(input.profile, input.binding)) {
    report.checks.push_back({std::move(stage.name), stage.is_right, std::move(stage.detail)});
  }
  return report;
}

std::string PreflightText(const PreflightReport& report) {
  std::string text;
  for (const PreflightCheck& check : report.checks) {
    absl::StrAppendFormat(&text, "%-6s %-17s %s\n", check.is_passed ? "ok" : "FAILED", check.name, check.detail);
  }
  return text;
}

std::string PreflightJson(const PreflightReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Name("is_passed").Boolean(report.is_passed());
  json.Name("candidate_share").Number(report.candidate_share);
  json.Name("static_traffic").Number(report.static_traffic);
  json.Name("bound_traffic").Number(report.bound_traffic);
  json.Name("checks").BeginArray();
  for (const PreflightCheck& check : report.checks) {
    json.BeginObject().Name("name").String(check.name);
    json.Name("is_passed").Boolean(check.is_passed);
    json.Name("detail").String(check.detail).EndObject();
  }
  json.EndArray().EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace banyan
