#include "precision/control/scope_diagnostics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

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

}  // namespace banyan
