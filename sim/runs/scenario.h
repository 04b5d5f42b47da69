// A job and its faults, all drawn from one seed: overlay, planner, tensors, limits, workers' habits, delays. What the
// safety test runs by the thousand. Pure function of the seed.
#ifndef BANYAN_SIM_RUNS_SCENARIO_H_
#define BANYAN_SIM_RUNS_SCENARIO_H_

#include <cstdint>
#include <string>

#include "sim/cluster.h"
#include "sim/runs/faults.h"
#include "sim/trace.h"

namespace banyan {

struct Scenario {
  ClusterOptions cluster;
  FaultOptions faults;
  uint64_t fault_seed = 0;
  int path_breaks = 0;  // how often a connection is lost with a chunk on an auxiliary path on it
};

Scenario MakeScenario(uint64_t seed);

struct ScenarioOutcome {
  uint64_t trace_hash = 0;
  uint64_t events = 0;
  int64_t results = 0;          // that workers got
  size_t policies = 0;          // versions that were published
  int64_t auxiliary_paths = 0;  // chunks that sources sent on one
  size_t reconfigured = 0;      // orders of the operator that were accepted
  std::string violations;       // empty when no rule was broken
};

// Trains to the end and stops every process. Lines of the trace go to `sink` unless it is empty.
ScenarioOutcome RunScenario(const Scenario& scenario, const Trace::Sink& sink);

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_SCENARIO_H_
