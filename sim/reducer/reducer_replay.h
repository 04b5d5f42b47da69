// Replays the rounds of a job through the real scheduler and nodes in simulated time, with float32 or with counts of
// votes in their trees: what `banyan bench reducer --replay` prints. Values and functions; thread-compatible.
#ifndef BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_
#define BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "precision/profile/binding_proposal.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// A training whose rounds are replayed with different reducers: nodes in a full mesh, the workers of each, what links
// and processors can do, and the buckets of a round. Plain value.
struct ReducerJob {
  int nodes = 2;
  int workers = 4;  // of each node
  // What a node sends at most, and what it takes at most. Each link has as much.
  double node_bps = 10e9;
  absl::Duration delay = absl::Microseconds(100);  // of each link, one way
  int threads = 1;                                 // of each node, that compute at once
  // What a thread of a node reads and writes when it casts and counts votes; it sums floats at kSumBytesPerSecond
  // (topology/evaluation/round_time.h).
  double vote_bytes_per_second = 10e9;
  LowBitFamily family = LowBitFamily::kBinary;
  std::vector<int64_t> buckets;  // float32 elements of each, in order of the backward pass
};

// Float32 always; counts wherever the guard predicts shorter rounds; counts always. All three are jobs with a profile:
// there a node adds up its workers' gradients chunk by chunk, and so has float32 sooner than without.
enum class ReducerRoute : uint8_t { kFloats, kGuarded, kForced };

struct ReducerTimes {
  absl::Duration round;     // the median: from the push of all buckets to the last worker's last result
  double low_bit_part = 0;  // of the elements
  int64_t sent_bytes = 0;   // of chunks in a round, on all links
  int64_t results = 0;      // compared with a sum, or a count of all votes, that is made in one place
};

// All rounds push all buckets at once, and workers wait for each other before each; the last rounds are measured.
// INTERNAL with a report when a result was wrong or another rule was broken; the job's own error when a round failed.
absl::StatusOr<ReducerTimes> ReplayReducer(const ReducerJob& job, ReducerRoute route);

struct ReducerPoint {
  ReducerJob job;
  ReducerTimes floats;
  ReducerTimes guarded;
  ReducerTimes forced;

  // Parts of float32's time.
  double guarded_part() const { return absl::FDivDuration(guarded.round, floats.round); }
  double forced_part() const { return absl::FDivDuration(forced.round, floats.round); }
};

// Replays each job in all three ways, in order. Float32 is replayed once for jobs after one another that have the same.
// `progress` is told how many are done. An error names its job.
absl::StatusOr<std::vector<ReducerPoint>> ReplayJobs(const std::vector<ReducerJob>& jobs,
                                                     const std::function<void(size_t done)>& progress);

// Every combination of some sizes and rates, to see where counts of votes are faster than float32, and where the guard
// must keep them from being slower (NEURON-Fabric, Wang, Huang and Lung, 2026, Figure 4).
struct ReducerGrid {
  std::vector<int> nodes;
  std::vector<int> workers;
  std::vector<int> threads = {1};  // as nodes have unless they are told otherwise
  std::vector<double> node_bps;
  std::vector<double> vote_bytes_per_second;
  std::vector<LowBitFamily> families;

  // Returns `job` with each combination, in order, families last.
  std::vector<ReducerJob> JobsOf(const ReducerJob& job) const;
};

// --- what counts are compared with ---

// What the stock way to count signs without a reducer takes: an all-gather of packed signs, after which each worker
// counts all of them (NEURON-Fabric, section 6.3).
struct GatherTimes {
  absl::Duration round;    // from the push of all buckets to the last worker's last result
  int64_t sent_bytes = 0;  // on all links
};

// Simulates it on the job's links. It is given what it can ask for. A node gets a worker's bits once, however many
// workers it has. Each worker has a processor of its own, as fast as a node's one thread. Messages cost their bytes,
// and processors no more than that.
GatherTimes GatherPackedSigns(const ReducerJob& job);

// --- what is replayed ---

// The buckets in which data-parallel training sends the gradients of a model.
struct BucketSchedule {
  std::string model;
  std::vector<int64_t> buckets;  // elements of each, in order of the backward pass

  int64_t elements() const;
};

// Fills buckets as PyTorch's DistributedDataParallel does (compute_bucket_assignment_by_size in its reducer): from the
// last tensor to the first, each bucket until it has its limit or more; 1 MiB of float32 for the first, 25 MiB for each
// other. `tensors` are in order of the forward pass.
std::vector<int64_t> Buckets(const std::vector<NamedShape>& tensors);

// Of ResNet-18 for CIFAR-100, DistilBERT and BERT-base for two classes, Pythia-160M: precision/samples/model_tensors.h.
std::vector<BucketSchedule> ModelSchedules();

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_
