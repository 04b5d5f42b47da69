// Decides after the FP32 warm-up which scopes of a model may go low-bit: NEURON-Fabric's Commander (Wang, Huang and
// Lung, 2026, section 4.2). The paper leaves the diagnostics open; these are sign agreement, share of near-zero values,
// cosine with full precision, and the trend of the loss. Thread-compatible; owned by the PrecisionController.
#ifndef BANYAN_PRECISION_CONTROL_COMMANDER_H_
#define BANYAN_PRECISION_CONTROL_COMMANDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "precision/control/loss_trend.h"
#include "precision/profile/operating_profile.h"
#include "proto/precision/precision_messages.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// What the gradients of all workers in the warm-up say of a scope: whether votes on them would mean anything.
struct ScopeDiagnostics {
  double sign_agreement = 1;  // mean share of workers on the stronger side, in [0.5, 1]
  double near_zero = 0;       // share of values within sender_threshold times the mean magnitude
  double cosine = 1;          // of the low-bit aggregate with the mean in full precision; 0 where either is all zeros
};

// Compares `gradients`, of one slice and one worker each. REQUIRES: at least one worker, all of one size.
ScopeDiagnostics DiagnoseScope(absl::Span<const absl::Span<const float>> gradients, const VoteRules& rules);

class Commander {
 public:
  struct Admission {
    bool is_admitted = false;
    std::string reason;
  };

  explicit Commander(const OperatingProfile& profile);

  // A step of the warm-up.
  void ObserveHealth(const TrainingHealth& health);
  // What a scope's gradients showed in one of these steps; the means of all count.
  void ObserveScope(const std::string& scope, const ScopeDiagnostics& diagnostics);

  bool is_warm() const { return steps_ >= profile_.admission.warmup_steps; }
  int64_t steps() const { return steps_; }
  // Returns whether `scope` is admitted, and why or why not. REQUIRES: is_warm().
  Admission Judge(const std::string& scope) const;

 private:
  struct Means {
    RunningStatistics sign_agreement, near_zero, cosine;
  };

  bool needs_diagnostics() const;

  OperatingProfile profile_;
  LossTrend trend_;
  int64_t steps_ = 0;
  double rise_ = 0;  // of the smoothed loss in the second half
  bool is_finite_ = true;
  std::map<std::string, Means> scopes_;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_COMMANDER_H_
