// What the gradients of all workers in the warm-up say of a scope: whether votes on them would mean anything.
// Pure function.
#ifndef BANYAN_PRECISION_CONTROL_SCOPE_DIAGNOSTICS_H_
#define BANYAN_PRECISION_CONTROL_SCOPE_DIAGNOSTICS_H_

#include <vector>

#include "absl/types/span.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

struct ScopeDiagnostics {
  double sign_agreement = 1;  // mean share of workers on the stronger side, in [0.5, 1]
  double near_zero = 0;       // share of values within sender_threshold times the mean magnitude
  double cosine = 1;          // of the low-bit aggregate with the mean in full precision; 0 where either is all zeros
};

// Compares `gradients`, of one slice and one worker each. REQUIRES: at least one worker, all of one size.
ScopeDiagnostics DiagnoseScope(absl::Span<const absl::Span<const float>> gradients, const VoteRules& rules);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_SCOPE_DIAGNOSTICS_H_
