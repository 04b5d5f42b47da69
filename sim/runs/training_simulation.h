// Trains a model in simulated time, to measure the effect of compression on a training. The values come from a gradient
// source and travel through the real scheduler and nodes at full size. What the links carry is what nodes encode.
// Thread-compatible; one call, one simulation.
#ifndef BANYAN_SIM_RUNS_TRAINING_SIMULATION_H_
#define BANYAN_SIM_RUNS_TRAINING_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/training_plan.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// The changes of a simulated job's links while it trains: step by step, by simulated time or by the job's own rounds.
// Value.
struct RateProfile {
  // Returns what the links that leave `from` have in `step`, as a part of their rates in the overlay; above 0. Steps
  // count from 0. Empty: links stay as they are.
  std::function<double(uint64_t step, NodeId from)> part;
  // The length of a step in rounds; 0: steps go by time.
  uint64_t rounds = 0;
  absl::Duration period = absl::Seconds(1);
};

struct TrainingSimulationOptions {
  OverlayConfig overlay;
  std::vector<TrainingPlan::Tensor> tensors;
  uint64_t rounds = 1;  // at least 1
  uint64_t seed = 1;
  absl::Duration compute_time;  // of a worker, before each round
  uint64_t weights_every = 0;   // this often workers register weights; 0: never
  RateProfile rates;
  // Both outlive the call; nullptr: integers, and nobody who hears of the results.
  GradientSource* source = nullptr;
  WorkerListener* listener = nullptr;
};

struct TrainingReport {
  // The times at which the last worker had the result of each round, from the first on; counted since all had the
  // initial values.
  std::vector<absl::Duration> round_ends;
  // The rates' step when each round's first gradient was pushed; zeros without a profile.
  std::vector<uint64_t> round_steps;
  int64_t sent_bytes = 0;  // on all links, from the first push on, with headers and control messages
  // Bytes of encoded values over those of the same elements as float32.
  double volume = 1;
  bool replicas_identical = false;

  absl::Duration simulated() const { return round_ends.empty() ? absl::ZeroDuration() : round_ends.back(); }
};

// INVALID_ARGUMENT without a tensor or a round; INTERNAL with a report when a rule was broken; the job's own error when
// a round failed.
absl::StatusOr<TrainingReport> SimulateTraining(const TrainingSimulationOptions& options);

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_TRAINING_SIMULATION_H_
