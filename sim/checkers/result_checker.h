// Checks what workers get. Thread-compatible; owned by the cluster.
//
// Invariants that it checks:
// - Each contribution is in the sum exactly once.
// - All replicas are identical bit by bit.
// - After a Flush, all that was ever pushed to a tensor with error feedback has come back. Tensors whose rounds may be
//   means of votes are such.
// Where rounds close without late workers these get several results in one. Then, after each Flush, what every single
// worker has got of a tensor adds up to all that was pushed to it. Of means that is known where all gradients are
// equal: each is that gradient, whoever is in it, as long as it is divided by the number of those who are.
#ifndef BANYAN_SIM_CHECKERS_RESULT_CHECKER_H_
#define BANYAN_SIM_CHECKERS_RESULT_CHECKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precision/profile/precision_binding.h"
#include "proto/compression/compression_config.h"
#include "proto/job_config.h"
#include "proto/precision/vote_rules.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/training_plan.h"
#include "sim/violations.h"

namespace banyan {

class ResultChecker : public WorkerListener {
 public:
  // `workers` are all that contribute, in rising order. Values are checked for sum and mean; other results only have to
  // be the same everywhere. The others are what an optimizer makes of a sum, a lossy encoding of one round, and all
  // values of a source. `may_be_late`: rounds may close without some worker. `plan` and `violations` outlive this.
  ResultChecker(const TrainingPlan* plan, std::vector<WorkerName> workers, AggregationOp op,
                const CompressionConfig& compression, Violations* violations, bool may_be_late = false);

  // Rounds may be low-bit: a slice of a result is also right if it is what a count of all votes in one place decides.
  // Means of votes leave residuals, so that what can be known is their sum up to a Flush. `binding` outlives this.
  void ExpectVotes(const VoteRules& rules, const PrecisionBinding* binding);

  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override;
  void OnMisuse(Timestamp now, WorkerName worker, const std::string& what) override;

  int64_t results() const { return results_; }
  // No two results of a round have differed so far.
  bool replicas_identical() const { return replicas_identical_; }

 private:
  struct RoundResult {
    std::vector<float> expected;  // empty when it cannot be known
    std::vector<float> voted;     // the other right result; empty when there is none
    uint64_t hash = 0;            // of the first worker's result
    WorkerName first;
    size_t seen = 0;
  };

  // What can be known: each round's values, only their sum over all rounds up to a Flush, or neither.
  enum class Knowledge : uint8_t { kEachRound, kUpToFlush, kNothing };
  // The debt of a tensor that error feedback works on: for each element what has been pushed, less what has come back.
  struct Debt {
    std::vector<double> owed;
    double magnitude = 0;  // of all that went in; float32 is exact to a part of this
  };

  // True if a late worker's result of the round may be another than that of the others.
  bool MayDiffer(Round round) const;
  // Adds a round to the worker's debt of the tensor; after a flush there must be none.
  void BookPushed(size_t tensor, Round round, absl::Span<const float> values, Debt& debt) const;
  void CheckNothingOwed(Timestamp now, size_t tensor, Round round, const std::string& whose, const Debt& debt);
  Knowledge KnowledgeOf(const TrainingPlan::Tensor& tensor, const CompressionConfig& compression) const;
  std::vector<float> Expected(size_t tensor, Round round) const;
  // What all votes decide on the round, slice by slice; empty where it is not one of votes.
  std::vector<float> Voted(size_t tensor, Round round) const;
  // Returns what the values have to be: `expected`, but in slices that are as votes have decided.
  std::vector<float> RightFor(size_t tensor, const RoundResult& result, absl::Span<const float> values) const;
  void Book(Timestamp now, size_t tensor, Round round, absl::Span<const float> values);
  void CheckValues(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> expected,
                   absl::Span<const float> values);

  const TrainingPlan* const plan_;
  const std::vector<WorkerName> workers_;
  const AggregationOp op_;
  Violations* const violations_;
  std::map<std::pair<size_t, Round>, RoundResult> rounds_;  // those that not all workers have yet
  std::vector<Knowledge> knowledge_;                        // of each tensor
  std::vector<Debt> debts_;                                 // of each tensor
  const bool may_be_late_;
  std::optional<VoteRules> rules_;
  const PrecisionBinding* binding_ = nullptr;                    // with rules_
  std::map<std::pair<size_t, WorkerName>, Debt> workers_debts_;  // where one may be late
  int64_t results_ = 0;
  bool replicas_identical_ = true;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_RESULT_CHECKER_H_
