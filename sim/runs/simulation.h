// Measures how fast a job's rounds would be on an overlay: trains in simulated time at full sizes, with scaled-down
// vectors, and reports times, loads and whether the replicas agreed. Thread-compatible; one call, one simulation.
#ifndef BANYAN_SIM_RUNS_SIMULATION_H_
#define BANYAN_SIM_RUNS_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "protocol/protocol.h"
#include "topology/overlay/link_schedule.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/told_links.h"
#include "tracing/round_recorder.h"

namespace banyan {

struct ClusterOptions;

// From a job's knowing its model to the plan for it.
inline constexpr absl::Duration kPlanningTime = absl::Seconds(1);

struct SimulationOptions {
  OverlayConfig overlay;
  // What the job is told of it.
  ToldLinks told;
  bool hides_caps = false;  // of hosts, and what links share: the job is not told of them
  // float32 tensors; a round pushes all of them.
  std::vector<int64_t> tensor_elements;
  uint64_t rounds = 1;
  uint64_t seed = 1;
  absl::Duration compute_time;  // of a worker, before each round
  // Before the first round in addition. With kPlanningTime all rounds have the plan that is made for the model.
  absl::Duration first_compute_time;
  // The changes of the links from their rates in the overlay; times count from the start of the simulation.
  std::vector<LinkChange> link_changes;
  std::optional<LinkRedraw> link_redraw;
  std::vector<CrossTraffic> cross_traffic;
  double most_drift_ppm = 0;     // of each process's clock
  double measurement_noise = 0;  // of the rates that nodes report, a standard deviation; 0.1 is 10%
  // Headers of TCP and IP, and TCP's acknowledgements, take their part of the links' rates.
  bool headers = false;
  // Connections are lost, processes pause, links stall or change.
  bool faults = false;
  // Where nodes note the rounds; outlives the run. nullptr: they note none.
  std::map<NodeId, RoundRecorder>* recorders = nullptr;
  // Puts something around the scheduler's core that watches it; empty for none.
  std::function<std::unique_ptr<Protocol>(std::unique_ptr<Protocol>)> wrap_scheduler;
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
    int64_t bytes = 0;    // with headers and control messages, since the first push of round 1
    double rate_bps = 0;  // at the end
  };

  std::vector<RoundReport> rounds;
  std::vector<LinkReport> links;  // in order of (from, to)
  absl::Duration synchronisation_p50;
  size_t policies = 0;  // different ones that governed the rounds
  // The median time of a job that is told all rates; empty where this one is, or nobody asked.
  std::optional<absl::Duration> informed_p50;
  double auxiliary_share = 0;  // of all chunks' bytes on links: those on auxiliary paths
  double model_bits = 0;
  double rate_bps = 0;  // model bits over the median synchronisation time
  // The rate that the first plan's most loaded link allows.
  double plan_rate_bps = 0;
  double bound_bps = 0;        // that no scheme can beat (RateBoundBps), on the links as they are at first
  absl::Duration least_round;  // likewise (LeastRoundTime)
  bool replicas_identical = false;
  int64_t scale = 1;  // elements that one simulated element stood for
  uint64_t events = 0;
  uint64_t trace_hash = 0;
  absl::Duration simulated;
};

// Returns how long each round's synchronisation took, in order.
std::vector<double> RoundSeconds(const SimulationReport& report);

// The job that Simulate runs, for whoever watches it.
ClusterOptions MakeClusterOptions(const SimulationOptions& options);

// INVALID_ARGUMENT and FAILED_PRECONDITION as the planner says; INTERNAL with a report when a rule was broken; the
// job's own error when a round failed.
absl::StatusOr<SimulationReport> Simulate(const SimulationOptions& options);

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_SIMULATION_H_
