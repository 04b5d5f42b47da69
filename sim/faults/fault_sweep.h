// Runs the scenarios of many seeds on several threads. Thread-compatible; one call, one sweep.
#ifndef BANYAN_SIM_FAULTS_FAULT_SWEEP_H_
#define BANYAN_SIM_FAULTS_FAULT_SWEEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "sim/faults/fault.h"
#include "sim/faults/fault_scenario.h"
#include "sim/trace.h"

namespace banyan {

struct FaultSweepOptions {
  uint64_t from = 0;
  uint64_t seeds = 1;
  std::vector<FaultKind> kinds;
  bool is_rough = false;  // rough jobs, whatever the kinds
  int threads = 1;
  // Gets the lines of all traces; with more than one thread they would be mixed. Empty for none.
  Trace::Sink trace;
  // Told how many seeds are done, by the calling thread; empty for none.
  std::function<void(uint64_t done)> progress;
};

struct FaultSweepReport {
  uint64_t seeds = 0;
  uint64_t events = 0;
  int64_t results = 0;
  int64_t required = 0;
  int64_t replicas = 0;
  int64_t fetches = 0;
  int64_t given = 0;
  int64_t lost = 0;     // jobs
  int64_t quorums = 0;  // jobs with one
  uint64_t epochs = 0;  // changes of membership, over all seeds
  absl::Duration simulated;
  std::map<FaultKind, int64_t> happened;
  std::vector<FaultOutcome> failed;  // in rising order of seeds
};

// REQUIRES: threads is at least 1, and 1 with a trace.
FaultSweepReport SweepFaults(const FaultSweepOptions& options);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_SWEEP_H_
