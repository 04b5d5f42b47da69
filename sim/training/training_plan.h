// What simulated workers do, and the values that they do it with.
#ifndef BANYAN_SIM_TRAINING_TRAINING_PLAN_H_
#define BANYAN_SIM_TRAINING_TRAINING_PLAN_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/data_type.h"
#include "core/ids.h"
#include "proto/chunk_message.h"

namespace banyan {

// Returns `values`, numbers that float32 has, in memory of this type, rounded where it does not have them.
Buffer InType(Buffer values, DataType type);

// Returns a digest of the values' bits.
uint64_t HashOf(absl::Span<const float> values);

// Writes values of any type to `to`. REQUIRES: equal lengths.
void WriteAsFloats(const Buffer& values, absl::Span<float> to);

// Names a worker among all of a simulated job. Value.
struct WorkerName {
  NodeId node;
  WorkerId worker;

  friend auto operator<=>(const WorkerName&, const WorkerName&) = default;
};

// Returns "worker 0 of node 3".
std::string NameOf(WorkerName worker);

// The source of the values that simulated workers push, when they are not the integers of TrainingPlan. It may be a
// real model, which learns as a WorkerListener what the workers got. Called on the simulation's thread.
class GradientSource {
 public:
  virtual ~GradientSource() = default;

  // Writes to `values` what `worker` contributes to `tensor` in `round`, element by element. In round 0 that is the
  // initial values, later its gradient, for which it has the results of all rounds before. Called once for each worker,
  // tensor and round.
  virtual void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) = 0;
  // The tensor's parameters as they are after the results so far, for workers that register weights.
  virtual void FillWeights(size_t tensor, absl::Span<float> values) = 0;
};

// The plan of what the simulated workers do, the same for all of them, and of the values they do it with. The values
// are small integers unless the plan names another source. Their sums are exact in float32 in whatever order they are
// added. Values and pure functions; thread-compatible.
struct TrainingPlan {
  struct Tensor {
    std::string name;
    int64_t elements = 0;
    int32_t priority = 0;
    DataType type = DataType::kFloat32;
  };

  std::vector<Tensor> tensors;
  // The source of all values; outlives the plan's use. nullptr: FillGradient, and so results that are known beforehand.
  GradientSource* source = nullptr;
  // All workers push the same in all rounds: so the mean of any gradients, of whichever rounds, is known.
  bool equal_gradients = false;
  uint64_t rounds = 1;  // after round 0, which carries the initial values
  uint64_t seed = 1;
  absl::Duration compute_time;        // of a worker, before each round
  absl::Duration first_compute_time;  // of all workers, before the first round in addition
  // A worker's compute time varies by up to this, differently for each.
  absl::Duration compute_spread;
  // The workers of these nodes compute so many times as long, from the round after `slow_after` on.
  std::map<NodeId, double> slowness;
  uint64_t slow_after = 0;
  // Each tensor goes on to its next round by itself, instead of all together.
  bool tensors_apart = false;
  // Rounds of a tensor that a worker pushes before it has the first one's result.
  uint32_t rounds_in_flight = 1;
  bool pull_apart = false;       // Push, then Pull, instead of PushPull
  uint64_t broadcast_every = 0;  // this often a round is a Broadcast; 0: never
  uint64_t flush_every = 0;      // this often a round is a Flush, and not a Broadcast; 0: never
  bool barrier_first = false;    // before the initial values
  uint64_t barrier_every = 0;    // before round 1 and after so many; 0: never; not with tensors_apart

  bool may_begin_late = false;  // workers may come to a job that runs, and Init tells them the rounds that are done
  // Nodes have the parameters, and Init gives them to workers that come late.
  bool nodes_have_parameters = false;

  // Of a training state that workers share, fetch at first, and give to others at boundaries; 0: none. Not with
  // tensors_apart.
  int64_t state_bytes = 0;
  // A fetch ends with an error after this, and is tried again.
  absl::Duration fetch_timeout = absl::InfiniteDuration();

  // The share of gradients with NaN, which the job skips; none of flushes and broadcasts has any.
  double not_finite_share = 0;

  uint64_t weights_every = 0;  // this often a worker registers weights before it pushes; 0: never

  // What a worker reports as its loss before it pushes a round; empty: it reports none.
  std::function<double(Round)> loss;

  // The time that the workers of a node stay attached after their last round; those of other nodes go at once.
  std::map<NodeId, absl::Duration> idle_time;

  RoundKind KindOf(Round round) const;
  bool IsNotFinite(WorkerName worker, size_t tensor, Round round) const;
  // Writes to `values` what `worker` pushes of `tensor` in `round`, from the plan's source.
  void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) const;
  // Writes to `values` what `worker` registers as weights before it pushes in `round`: the source's, or other integers.
  void FillWeights(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) const;
};

// Whole numbers of at most kLargestGradient in size, so that the sum of thousands of workers is exact. Of a half type
// they are of at most kLargestHalf in size, so that those of 36 workers are.
inline constexpr int kLargestGradient = 1023;
inline constexpr int kLargestHalf = 7;

// Writes to `values` what `worker` contributes to `tensor` in `round`, element by element, where the plan has no
// source.
void FillGradient(const TrainingPlan& plan, WorkerName worker, size_t tensor, Round round, absl::Span<float> values);

// The sum over all these workers.
std::vector<float> SumOfGradients(const TrainingPlan& plan, absl::Span<const WorkerName> workers, size_t tensor,
                                  Round round);

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_TRAINING_PLAN_H_
