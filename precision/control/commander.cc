#include "precision/control/commander.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"

namespace banyan {
namespace {

double Cosine(absl::Span<const float> a, absl::Span<const double> b) {
  double product = 0;
  double a_squares = 0;
  double b_squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i];
    a_squares += static_cast<double>(a[i]) * a[i];
    b_squares += b[i] * b[i];
  }
  return a_squares > 0 && b_squares > 0 ? product / std::sqrt(a_squares * b_squares) : 0;
}

}  // namespace

ScopeDiagnostics DiagnoseScope(absl::Span<const absl::Span<const float>> gradients, const VoteRules& rules) {
  const size_t elements = gradients.front().size();
  const double workers = static_cast<double>(gradients.size());
  std::vector<double> mean(elements);
  std::vector<int64_t> positive(elements);
  double near_zero = 0;
  VoteCount count(static_cast<int64_t>(elements), HasZeroVotes(rules));
  for (const absl::Span<const float> values : gradients) {
    const float scale = SliceScale(values);
    count.Add(VoteCount::OfVoter(values, scale, rules));
    for (size_t i = 0; i < elements; ++i) {
      mean[i] += values[i] / workers;
      positive[i] += values[i] > 0 ? 1 : 0;
      near_zero += std::abs(values[i]) <= rules.sender_threshold * scale ? 1 : 0;
    }
  }
  ScopeDiagnostics diagnostics;
  if (elements == 0) return diagnostics;
  double agreement = 0;
  for (int64_t votes : positive)
    agreement += std::max(static_cast<double>(votes), workers - static_cast<double>(votes));
  diagnostics.sign_agreement = agreement / workers / static_cast<double>(elements);
  diagnostics.near_zero = near_zero / workers / static_cast<double>(elements);
  std::vector<float> aggregate(elements);
  VoteDecision(count, rules).WriteTo(absl::MakeSpan(aggregate));
  diagnostics.cosine = Cosine(aggregate, mean);
  return diagnostics;
}

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
