// A job and a schedule of faults that it is to outlive, all drawn from one seed. Pure function of the seed.
#ifndef BANYAN_SIM_FAULTS_FAULT_SCENARIO_H_
#define BANYAN_SIM_FAULTS_FAULT_SCENARIO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/cluster_options.h"
#include "sim/faults/fault.h"
#include "sim/trace.h"
#include "sim/training/contributor_fields.h"

namespace banyan {

struct FaultScenario {
  std::unique_ptr<ContributorFields> fields;  // of the cluster's plan
  ClusterOptions cluster;
  std::vector<Fault> faults;
  uint64_t fault_seed = 0;
  // After the last fault everybody has finished within this.
  absl::Duration recovery;
};

// With faults of these kinds alone. Some jobs have a server-side optimizer, unless there are to be none; all else is
// the same with and without.
FaultScenario MakeFaultScenario(uint64_t seed, const std::vector<FaultKind>& kinds, bool may_have_optimizer = true);

// Lets rounds of the scenario close without late workers, of whom it makes some. Results are sums then, and in all
// tensors each worker has elements of its own.
void AddQuorum(uint64_t seed, FaultScenario* scenario);

// Makes the results of AddQuorum means of ones: whoever is late, each mean is one.
void AddMeans(FaultScenario* scenario);

// A job with all faults, rough ones among them: some have many tensors, some skip gradients that are not finite, some
// have means with a quorum. All that is sent is turned into bytes and back.
FaultScenario MakeRoughScenario(uint64_t seed);

// Lets rounds of the scenario go low-bit when the training has warmed up, and vetoes them now and then: workers report
// losses, some of which rise. What is in a result cannot be read off then; it has to be the same for all.
void AddPrecision(uint64_t seed, FaultScenario* scenario);

// Makes the low-bit rounds of AddPrecision means of votes, with residuals: after each flush all that was pushed has to
// have come back. In half of the seeds a slice of each tensor alone may go low-bit, and in half of these another one in
// the binding that later starts of the scheduler read.
void AddMeanVotes(uint64_t seed, FaultScenario* scenario);

struct FaultOutcome {
  uint64_t seed = 0;
  uint64_t trace_hash = 0;
  uint64_t events = 0;
  int64_t results = 0;   // that workers got
  int64_t flushes = 0;   // results of flushes that were booked, where workers may be late
  int64_t means = 0;     // results of means of ones
  int64_t required = 0;  // contributors that results had to have
  int64_t replicas = 0;  // models that were compared with others
  int64_t fetches = 0;   // workers that go on with the state of others
  int64_t given = 0;     // groups of nodes' parameters that others have described to joiners
  bool has_quorum = false;
  bool is_lost = false;  // all nodes were gone that had the parameters
  uint64_t epochs = 0;   // the last one's number
  absl::Duration simulated;
  std::map<FaultKind, int64_t> happened;
  int64_t low_bit_rounds = 0;
  int64_t fallback_rounds = 0;
  std::string violations;  // empty when no rule was broken

  // Adds what there was in another job to what there was in this one. What is no count stays.
  void Add(const FaultOutcome& other);
};

// Trains to the end and stops every process. Lines of the trace go to `sink` unless it is empty.
FaultOutcome RunFaultScenario(const FaultScenario& scenario, const Trace::Sink& sink);

// Makes and runs the rough scenario of a seed.
FaultOutcome RunRoughSeed(uint64_t seed, const Trace::Sink& sink);

// Makes and runs the scenario of a seed. Some jobs have a quorum, unless there are to be none; all else is the same
// with and without.
FaultOutcome RunFaultSeed(uint64_t seed, const std::vector<FaultKind>& kinds, const Trace::Sink& sink,
                          bool may_have_quorum = true);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_SCENARIO_H_
