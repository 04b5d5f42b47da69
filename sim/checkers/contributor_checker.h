// The checker of results when nodes and workers come and go, and its books of debts.
#ifndef BANYAN_SIM_CHECKERS_CONTRIBUTOR_CHECKER_H_
#define BANYAN_SIM_CHECKERS_CONTRIBUTOR_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "proto/job_config.h"
#include "sim/checkers/chunk_watch.h"
#include "sim/checkers/membership_watch.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/contributor_fields.h"
#include "sim/training/training_plan.h"
#include "sim/violations.h"

namespace banyan {

// Books what has been pushed to tensors with error feedback against what has come back: after a Flush nothing is owed.
// Thread-compatible; owned by the checker of contributors.
//
// Who comes or goes takes along what it kept back. A flush settles nothing then, and books begin anew after it. A book
// begins with the first push of its first round: parts of that round's result may be made long before it is whole, by
// who has gone since.
class ReturnedDebts {
 public:
  // An element that has not come back.
  struct Miss {
    size_t element = 0;
    double owed = 0;
  };

  explicit ReturnedDebts(const MembershipWatch* membership) : membership_(membership) {}

  // Somebody came or went.
  void OnChange() { ++changes_; }
  // What has been pushed to the tensor since its last flush is not known for sure.
  void OnDoubt(size_t tensor) { doubtful_.insert(tensor); }
  // Somebody has pushed to this round of the tensor.
  void OnPushed(size_t tensor, Round round) { BeginningOf(tensor, round); }
  // Books a round of a tensor. With `is_flush` returns what is still owed of it, if anything.
  std::optional<Miss> Book(size_t tensor, Round round, absl::Span<const float> pushed, absl::Span<const float> returned,
                           bool is_flush);

 private:
  struct Beginning {
    uint64_t changes = 0;
    Epoch epoch;
  };
  struct Debt {
    std::vector<double> owed;
    double magnitude = 0;  // of all that went in; float32 is exact to a part of this
    Beginning begun;
  };

  // Returns when the round was first pushed to, or booked.
  const Beginning& BeginningOf(size_t tensor, Round round) {
    return begun_.try_emplace({tensor, round}, Beginning{changes_, membership_->epoch()}).first->second;
  }

  const MembershipWatch* const membership_;
  uint64_t changes_ = 0;
  std::map<std::pair<size_t, Round>, Beginning> begun_;  // by tensor and round
  std::map<size_t, Debt> debts_;                         // by tensor
  std::set<size_t> doubtful_;
};

// Checks what workers get when nodes and workers come and go, from gradients that say whose they are.
// Thread-compatible; owned by the cluster.
//
// Invariants that it checks:
// - Nobody is in a result twice, nor in one of a round that it has not pushed.
// - Whoever pushed a round and still runs when its first result is handed out is in it. The node must have been a
// member
//   in the epoch that made the result.
// - A mean is divided by the number of gradients in it. Those that are skipped are not.
// - All elements of a chunk are of the same contributors.
// - A round has one result on all who get it, as long as one of those who have it is there.
// - A broadcast is the values of one worker.
// - After a Flush all that was pushed to a tensor with error feedback has come back. Who comes or goes is excused.
// Where rounds close without late workers, results are of several rounds' pushes, and a late worker gets several in
// one. Then it checks the last rule alone, of all tensors that are spread, by what each worker has got; and, where all
// push ones, that each mean is one: it is divided by the number of gradients in it. A round into which nobody has put
// anything gives zero.
class ContributorChecker : public WorkerListener {
 public:
  // `plan` takes its values from `fields`. Who is in a result can be read off that of a sum or a mean; what another op
  // makes of them has only to be the same for all. All pointers outlive this.
  ContributorChecker(const TrainingPlan* plan, ContributorFields* fields, AggregationOp op,
                     const MembershipWatch* membership, const ChunkWatch* chunks, Violations* violations,
                     bool may_be_late = false);

  void OnStarted(Timestamp now, WorkerName worker) override;
  void OnEnded(Timestamp now, WorkerName worker) override;
  void OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) override;
  // Results may be what votes decide: they do not say who is in them.
  void ReadNoValues() { reads_values_ = false; }
  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override;
  // Checks what waits to be checked: the messages that tell of a result may leave after it is handed out.
  void Finish();

  int64_t results() const { return results_; }
  // Results of flushes by which nothing was to be owed to a worker, or to all, any more.
  int64_t flushes() const { return flushes_; }
  // Results of means of ones that were whole numbers.
  int64_t means() const { return means_; }
  // Contributors that a result had to have, over all chunks that were checked.
  int64_t required() const { return required_; }

 private:
  using TensorRound = std::pair<size_t, Round>;
  using Counts = ContributorFields::Counts;

  struct Life {
    uint32_t start = 0;
    bool is_up = false;
  };
  struct Variant {
    uint64_t hash = 0;
    std::vector<std::pair<WorkerName, WorkerStart>> holders;
  };
  // The first result of a round, and those who were there when it was handed out.
  struct Unchecked {
    Timestamp when;
    TensorRound round;
    WorkerName holder;
    std::vector<float> values;
    std::set<WorkerName> pushed;           // at any time
    std::map<WorkerName, Epoch> there;     // pushed it and run; with the epoch in which they began
    std::set<WorkerName> on_holders_node;  // of those
  };

  WorkerStart StartOf(WorkerName worker) { return {lives_[worker].start, membership_->StartsOf(worker.node)}; }
  // True if this start of the worker runs, on a node that is a member.
  bool IsThere(WorkerName worker, WorkerStart start) const;
  void CheckOneResult(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values);
  // Notes who has pushed the result's round, and who of them runs. Returns whether all do.
  bool NotePushes(Unchecked& result);
  // What a worker gets of means of ones is their number.
  void CheckMeansOfOnes(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values);
  // Books what a worker has got that may be late; after a flush, against all that was pushed since the last one.
  void BookLate(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values);
  void Remember(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values);
  // Something was pushed to a round of the tensor before this one that has come to nobody, and after the last that has.
  bool HasUnbookedPushes(TensorRound round) const;
  // Every member has a worker who pushed the round.
  bool AllNodesPushed(const Unchecked& result) const;
  void Check(const Unchecked& result);
  void CheckBroadcast(const Unchecked& result, const ChunkWatch::Chunk& chunk);
  void CheckSum(const Unchecked& result, const ChunkWatch::Chunk& chunk);
  void CheckCounts(const Unchecked& result, const ChunkWatch::Chunk& chunk, const Counts& counts);
  std::set<WorkerName> Required(const Unchecked& result, const ChunkWatch::Chunk& chunk) const;
  void Complain(const Unchecked& result, int64_t element, const std::string& rule, const std::string& what);

  const TrainingPlan* const plan_;
  ContributorFields* const fields_;
  const AggregationOp op_;
  bool reads_values_ = true;
  const MembershipWatch* const membership_;
  const ChunkWatch* const chunks_;
  Violations* const violations_;
  std::map<WorkerName, Life> lives_;
  std::map<WorkerName, Epoch> began_;                                // when this start first pushed anything
  std::map<TensorRound, std::map<WorkerName, WorkerStart>> pushes_;  // with the start that pushed last
  std::map<TensorRound, std::vector<Variant>> variants_;
  std::deque<Unchecked> unchecked_;
  std::map<size_t, Round> booked_;  // by tensor of which debts are booked, the last round
  ReturnedDebts debts_;
  const bool may_be_late_;
  // Of what each worker has got, where one may be late.
  std::map<WorkerName, ReturnedDebts> late_debts_;
  std::map<std::pair<WorkerName, size_t>, Round> late_flushes_;  // the last ones
  int64_t flushes_ = 0;
  int64_t means_ = 0;
  int64_t results_ = 0;
  int64_t required_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_CONTRIBUTOR_CHECKER_H_
