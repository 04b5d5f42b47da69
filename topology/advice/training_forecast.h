// How much of the time accelerators compute, where the steps of a training wait for rounds. Pure.
#ifndef BANYAN_TOPOLOGY_ADVICE_TRAINING_FORECAST_H_
#define BANYAN_TOPOLOGY_ADVICE_TRAINING_FORECAST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// In so many fragments Streaming DiLoCo sends the model, or in as many as there are steps. Each is awaited as late as
// it can be before the next one is sent: so there are pauses in which late sites come.
inline constexpr int64_t kStreamingFragments = 4;
// `attach` of banyan.torch sends gradients in groups of so many float32 (key_mb), while backward takes two thirds of
// the step.
inline constexpr int64_t kAttachGroupElements = 1024 * 1024;
inline constexpr double kForwardPart = 1.0 / 3;

// By which sites synchronise.
enum class SyncMethod {
  kAttach,     // gradients of every step, in groups that leave while backward goes on
  kDiLoCo,     // the model after some steps, for which all wait
  kStreaming,  // the same in fragments, while training goes on
};

// Predicts the utilisation of training over one plan with one codec: the part of the time in which steps are computed,
// which take `step` without any communication. Beside rounds (PredictRoundTime) it counts headers, and what trainers
// read and write for them; not encoding and encryption, which nodes do meanwhile. A value; thread-compatible. The view
// outlives it.
class TrainingForecast {
 public:
  // Fits chunks (of at most policy.chunk_max_elements) to links that carry `sent_part` of the model's bits. `step` is
  // above 0. REQUIRES: as PredictRoundTime, and there is a tensor.
  TrainingForecast(const NetworkView& view, Policy policy, std::vector<PlannedTensor> model, int64_t least_elements,
                   double sent_part, absl::Duration step);

  // Of a model that is sent at once, with headers.
  absl::Duration round_time() const { return round_; }
  // `steps_per_sync` is at least 1, and does not matter for kAttach.
  double Utilisation(SyncMethod method, int64_t steps_per_sync) const;
  // Returns the fewest steps between two rounds with which utilisation is at least `target`, in (0, 1); nothing where
  // a million are too few.
  std::optional<int64_t> FewestSteps(SyncMethod method, double target) const;

 private:
  absl::Duration RoundOf(double part) const;
  double Attach() const;
  absl::Duration Waited(SyncMethod method, int64_t steps) const;

  const NetworkView& view_;
  Policy policy_;
  std::vector<PlannedTensor> model_;
  double sent_part_;
  absl::Duration step_;
  absl::Duration round_;
  std::map<int64_t, absl::Duration> fragment_rounds_;  // by the number of fragments
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ADVICE_TRAINING_FORECAST_H_
