#include "precision/preflight/preflight_stages.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "precision/control/precision_controller.h"

namespace banyan {
namespace {

// Rounds of each stage after the warm-up.
constexpr int64_t kStageSteps = 5;

class Rehearsal {
 public:
  Rehearsal(const OperatingProfile& profile, const PrecisionBinding& binding)
      : profile_(profile), binding_(binding), controller_(profile, binding), audit_(profile.bits_per_element) {}

  // Runs a stage of `steps` rounds, at least one of which must show `expected` where a candidate may go low-bit; the
  // others may be what a budget makes of them.
  PreflightStage Run(const std::string& name, int64_t steps, PrecisionRoute expected) {
    PreflightStage stage{name, true, ""};
    int64_t as_expected = 0;
    for (int64_t i = 0; i < steps; ++i) as_expected += Round(expected) ? 1 : 0;
    const bool all = expected != PrecisionRoute::kLowBit;
    stage.is_right = all ? as_expected == steps : as_expected > 0;
    stage.detail = absl::StrFormat("%d of %d rounds had the route %s where it is allowed", as_expected, steps,
                                   RouteName(expected));
    if (!stage.is_right && !refusal().empty()) absl::StrAppendFormat(&stage.detail, "; %s", refusal());
    return stage;
  }

  PrecisionController& controller() { return controller_; }
  RouteAudit TakeAudit() { return std::move(audit_); }

 private:
  bool Round(PrecisionRoute expected) {
    controller_.BeginRound();
    ++step_;
    int64_t allowed = 0;
    int64_t right = 0;
    for (const TensorBinding& tensor : binding_.tensors()) {
      std::vector<SliceRoute> slices;
      for (const SliceBinding& slice : binding_.SlicesOf(tensor.name, tensor.elements)) {
        const bool is_candidate =
            slice.is_candidate && slice.family.value_or(profile_.rules.family) == profile_.rules.family;
        const PrecisionRoute route = controller_.RouteOf(tensor.name, slice);
        const PrecisionRoute decided = is_candidate ? route : PrecisionRoute::kPlain;
        slices.push_back({slice.elements, is_candidate, decided, route});
        allowed += is_candidate ? 1 : 0;
        right += is_candidate && route == expected ? 1 : 0;
        if (is_candidate && controller_.is_warming_up()) {
          controller_.ObserveScope(ScopeOf(profile_.scope, tensor.name, slice), ScopeDiagnostics());
        }
      }
      audit_.Record(tensor.name, slices, 0);
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
  RouteAudit audit_;
  int64_t step_ = 0;
};

}  // namespace

PreflightRun RunPreflightStages(const OperatingProfile& profile, const PrecisionBinding& binding) {
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
  return {std::move(stages), rehearsal.TakeAudit()};
}

}  // namespace banyan
