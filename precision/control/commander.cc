#include "precision/control/commander.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace banyan {

Commander::Commander(const OperatingProfile& profile) : profile_(profile), trend_(profile.detector.smoothing) {}

void Commander::ObserveHealth(const TrainingHealth& health) {
  ++steps_;
  const double rise = trend_.Add(health.loss);
  is_finite_ = is_finite_ && std::isfinite(rise);
  if (2 * steps_ > profile_.admission.warmup_steps) rise_ += rise;
}

void Commander::ObserveScope(const std::string& scope, const ScopeDiagnostics& diagnostics) {
  Means& means = scopes_[scope];
  means.sign_agreement.Add(diagnostics.sign_agreement);
  means.near_zero.Add(diagnostics.near_zero);
  means.cosine.Add(diagnostics.cosine);
}

bool Commander::needs_diagnostics() const {
  const AdmissionLimits open;
  const AdmissionLimits& limits = profile_.admission;
  return limits.least_sign_agreement > open.least_sign_agreement || limits.most_near_zero < open.most_near_zero ||
         limits.least_cosine > open.least_cosine;
}

Commander::Admission Commander::Judge(const std::string& scope) const {
  const AdmissionLimits& limits = profile_.admission;
  if (!profile_.has_low_bit) return {false, "the profile has no low-bit mode"};
  if (!is_finite_) return {false, "the loss was not finite in the warm-up"};
  if (rise_ > limits.most_loss_rise) {
    return {false, absl::StrFormat("the loss rose by %g in the second half of the warm-up, expected at most %g", rise_,
                                   limits.most_loss_rise)};
  }
  if (!needs_diagnostics()) return {true, "the warm-up is over and its loss fell"};
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return {false, "no diagnostics came in the warm-up, and the profile has limits for them"};
  const Means& means = found->second;
  if (means.sign_agreement.mean() < limits.least_sign_agreement) {
    return {false, absl::StrFormat("workers' signs agree by %.3f, expected at least %.3f", means.sign_agreement.mean(),
                                   limits.least_sign_agreement)};
  }
  if (means.near_zero.mean() > limits.most_near_zero) {
    return {false, absl::StrFormat("%.3f of the values are near zero, expected at most %.3f", means.near_zero.mean(),
                                   limits.most_near_zero)};
  }
  // Not-a-numbers are refused as well.
  if (!(means.cosine.mean() >= limits.least_cosine)) {
    return {false, absl::StrFormat("the low-bit aggregate has a cosine of %.3f with full precision, expected at least "
                                   "%.3f",
                                   means.cosine.mean(), limits.least_cosine)};
  }
  return {true, "its diagnostics are within the profile's limits"};
}

}  // namespace banyan
