// Measures how fast a job's rounds would be on an overlay: trains in simulated time at full sizes, with scaled-down
// vectors, and reports times, loads and whether the replicas agreed. Thread-compatible; one call, one simulation.
#ifndef BANYAN_SIM_SIMULATION_H_
#define BANYAN_SIM_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "topology/overlay_config.h"

namespace banyan {

struct SimulationOptions {
  OverlayConfig overlay;
  // float32 tensors; a round pushes all of them.
  std::vector<int64_t> tensor_elements;
  uint64_t rounds = 1;
  uint64_t seed = 1;
  // Connections are lost, processes pause, links stall or change.
  bool faults = false;
  // Told the part of the work that is done, 0 to 1, again and again; empty for none.
  std::function<void(double done)> progress;
};

struct SimulationReport {
  struct RoundReport {
    Round round;
    PolicyVersion policy;
    // From the last member's push to the last member's completed pull.
    absl::Duration synchronisation;
  };
  struct LinkReport {
    NodeId from;
    NodeId to;
    int64_t bytes = 0;  // with headers and control messages, since the first push of round 1
    double rate_bps = 0;
  };

  std::vector<RoundReport> rounds;
  std::vector<LinkReport> links;  // in order of (from, to)
  absl::Duration synchronisation_p50;
  double model_bits = 0;
  double rate_bps = 0;       // model bits over the median synchronisation time
  double plan_rate_bps = 0;  // what the plan's most loaded link allows
  double bound_bps = 0;
  bool replicas_identical = false;
  int64_t scale = 1;  // elements that one simulated element stood for
  uint64_t events = 0;
  uint64_t trace_hash = 0;
  absl::Duration simulated;
};

// INVALID_ARGUMENT and FAILED_PRECONDITION as the planner says; INTERNAL with a report when a rule was broken; the
// job's own error when a round failed.
absl::StatusOr<SimulationReport> Simulate(const SimulationOptions& options);

}  // namespace banyan

#endif  // BANYAN_SIM_SIMULATION_H_
