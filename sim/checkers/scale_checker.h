// Checks the scales of votes. Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks, of every low-bit round:
// - What a node adds to the votes of its children in one attempt has the same scale in all chunks of a slice.
// - All chunks of a slice whose results one epoch has made have one scale.
// - Where votes leave no residual the scale is known: a node adds those of its workers' gradients in the slice, and a
//   result of all workers has their mean.
#ifndef BANYAN_SIM_CHECKERS_SCALE_CHECKER_H_
#define BANYAN_SIM_CHECKERS_SCALE_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compression/counts/scale_sum.h"
#include "core/ids.h"
#include "proto/precision/vote_rules.h"
#include "sim/checkers/slice_routes.h"
#include "sim/traffic_observer.h"
#include "sim/training/training_plan.h"
#include "sim/violations.h"

namespace banyan {

class ScaleChecker : public TrafficObserver {
 public:
  // `workers` are all that vote. With `plan` the checker asks for gradients, where they tell scales; without it does
  // not. The pointers outlive this; `slices` hears of each message first.
  ScaleChecker(const TrainingPlan* plan, std::vector<WorkerName> workers, const VoteRules& rules, SliceRoutes* slices,
               Violations* violations);

  void OnSent(const SentMessage& sent) override;
  void OnDelivered(const SentMessage& sent) override;

  // Chunks of votes whose scales were compared.
  int64_t parts() const { return parts_; }
  // Scales of slices that were held against gradients.
  int64_t known() const { return known_; }

 private:
  struct Votes {
    int64_t voters = 0;
    ScaleSum scales;
    friend bool operator==(const Votes&, const Votes&) = default;
  };
  // A slice of a key in a round, and who has put it into which attempt.
  using Part = std::tuple<NodeId, Epoch, Attempt, KeyId, Round, size_t>;
  using Result = std::tuple<KeyId, Round, size_t, Epoch>;

  std::optional<SliceRoutes::Place> PlaceOf(const ChunkMessage& chunk);
  static std::optional<Votes> VotesOf(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckPart(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckResult(const SentMessage& sent, const ChunkMessage& chunk);
  // Returns the tensor whose gradients tell scales; nothing where they do not.
  std::optional<size_t> KnownTensor(KeyId key) const;
  ScaleSum ScaleOf(WorkerName worker, size_t tensor, Round round, const ElementRange& slice) const;
  // Returns whether so many workers of the node have these scales together.
  bool AreOfWorkers(NodeId node, const Votes& own, size_t tensor, Round round, const ElementRange& slice) const;
  void Complain(const SentMessage& sent, const std::string& what);

  const TrainingPlan* const plan_;
  const std::vector<WorkerName> workers_;
  const VoteRules rules_;
  SliceRoutes* const slices_;
  Violations* const violations_;
  std::map<std::pair<NodeId, ChunkId>, std::map<NodeId, Votes>> from_children_;  // by parent, and child
  std::set<std::pair<NodeId, ChunkId>> sent_;                                    // by source
  std::map<Part, Votes> own_;
  std::map<Result, float> results_;
  int64_t parts_ = 0;
  int64_t known_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_SCALE_CHECKER_H_
