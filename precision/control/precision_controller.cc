#include "precision/control/precision_controller.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

bool Uses(const OperatingProfile& profile, const SliceBinding& slice) {
  return slice.is_candidate && (!slice.family.has_value() || *slice.family == profile.rules.family);
}

}  // namespace

std::string ScopeOf(PrecisionScope scope, absl::string_view tensor, const SliceBinding& slice) {
  switch (scope) {
    case PrecisionScope::kModel:
      return "model";
    case PrecisionScope::kRole:
      return std::string(RoleName(slice.role));
    case PrecisionScope::kTensor:
      return absl::StrCat(tensor);
  }
  return "model";
}

PrecisionController::PrecisionController(const OperatingProfile& profile, const PrecisionBinding& binding)
    : profile_(profile), binding_(binding), commander_(profile), supervisor_(profile) {}

void PrecisionController::BeginRound() {
  const ControlSettings& controls = profile_.controls;
  // What was refused is looked at again after as many steps.
  const bool is_due = !is_decided_ || (!has_admitted_ && controls.warmup);
  if (is_due && (commander_.is_warm() || !controls.warmup)) DecideAdmission();
  veto_ = Veto::kNone;
  is_low_bit_ = false;
  if (!has_admitted_) return;
  veto_ = supervisor_.Decide();
  is_low_bit_ = veto_ == Veto::kNone;
}

void PrecisionController::Resume(const std::vector<std::string>& admitted, bool is_vetoed,
                                 const std::optional<LearnedControls>& learned) {
  is_decided_ = true;
  admissions_.clear();
  for (const std::string& scope : admitted) admissions_[scope] = {true, "it was before a restart"};
  has_admitted_ = !admitted.empty();
  if (!has_admitted_) return;
  supervisor_.Resume(is_vetoed, learned);
  BeginRound();
}

void PrecisionController::DecideAdmission() {
  is_decided_ = true;
  admissions_.clear();
  const ControlSettings& controls = profile_.controls;
  for (const TensorBinding& tensor : binding_.tensors()) {
    for (const SliceBinding& slice : tensor.slices) {
      if (!Uses(profile_, slice)) continue;
      const std::string scope = ScopeOf(profile_.scope, tensor.name, slice);
      if (admissions_.contains(scope)) continue;
      Commander::Admission& admission = admissions_[scope];
      if (!controls.low_bit || !profile_.has_low_bit) {
        admission = {false, "the settings or the profile have no low-bit rounds"};
      } else if (!controls.warmup) {
        admission = {true, "the settings have no warm-up"};
      } else {
        admission = commander_.Judge(scope);
      }
      has_admitted_ = has_admitted_ || admission.is_admitted;
    }
  }
  if (has_admitted_) supervisor_.Admit();
  commander_ = Commander(profile_);
}

PrecisionRoute PrecisionController::RouteOf(absl::string_view tensor, const SliceBinding& slice) const {
  if (!is_decided_ || !Uses(profile_, slice)) return PrecisionRoute::kPlain;
  const auto found = admissions_.find(ScopeOf(profile_.scope, tensor, slice));
  if (found == admissions_.end() || !found->second.is_admitted) return PrecisionRoute::kPlain;
  return is_low_bit_ && !ordered_.contains(found->first) ? PrecisionRoute::kLowBit : PrecisionRoute::kFallback;
}

void PrecisionController::ObserveScope(const std::string& scope, const ScopeDiagnostics& diagnostics) {
  if (!has_admitted_) commander_.ObserveScope(scope, diagnostics);
}

void PrecisionController::Observe(const TrainingHealth& health) {
  if (!has_admitted_) {
    commander_.ObserveHealth(health);
    supervisor_.ObserveWarmup(health);
  } else {
    const bool has_low_bit = std::any_of(admissions_.begin(), admissions_.end(), [this](const auto& scope) {
      return scope.second.is_admitted && !ordered_.contains(scope.first);
    });
    supervisor_.Observe(health, is_low_bit_ && has_low_bit);
  }
}

}  // namespace banyan
