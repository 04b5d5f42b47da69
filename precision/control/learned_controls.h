// What the controls of low-bit rounds have learned of a run, for a scheduler that goes on with it. A plain value.
#ifndef BANYAN_PRECISION_CONTROL_LEARNED_CONTROLS_H_
#define BANYAN_PRECISION_CONTROL_LEARNED_CONTROLS_H_

#include <cstdint>
#include <limits>

#include "proto/fields.h"

namespace banyan {

struct LearnedControls {
  // From the warm-up: the scale of the detector, and how far it is to be trusted.
  double slack = 0;
  double threshold = 0;
  double confidence = 0;
  // From the warm-up or the probe: how many rounds may be low-bit.
  double target = 0;
  // From the probe, where there was one.
  bool is_probed = false;
  double trigger_density = 0;
  int64_t cooldown_steps = 0;
  int64_t readmission_steps = 0;
  friend bool operator==(const LearnedControls&, const LearnedControls&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, LearnedControls& m) {
  constexpr Range kAnyDouble = {0.0, std::numeric_limits<double>::max()};
  constexpr Range kShares = {0.0, 1.0};
  constexpr Range kSteps = {int64_t{0}, std::numeric_limits<int64_t>::max()};
  v(1, "slack", m.slack, kAnyDouble);
  v(2, "threshold", m.threshold, kAnyDouble);
  v(3, "confidence", m.confidence, kShares);
  v(4, "target", m.target, kShares);
  v(5, "is_probed", m.is_probed);
  v(6, "trigger_density", m.trigger_density, kShares);
  v(7, "cooldown_steps", m.cooldown_steps, kSteps);
  v(8, "readmission_steps", m.readmission_steps, kSteps);
}

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_LEARNED_CONTROLS_H_
