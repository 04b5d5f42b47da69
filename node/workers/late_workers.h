// Workers that have not pushed a round which a quorum of the job has pushed: when this node goes on without them, and
// what becomes of their gradients and results. Thread-compatible; owned by LocalWorkers.
//
//   quorum  The scheduler has heard that enough members have pushed the round (QuorumReached).
//   grace   From then on this node waits so long for workers that have pushed the round before (grace.h). For one that
//           is behind already it does not wait.
//   late    Then it contributes what the others have pushed. Its weight is theirs, so that means divide by that alone.
//   owed    What a late worker pushes afterwards goes into the node's next contribution, whoever is late in that one,
//           and adds to its weight.
//   missed  Its call gets the sum of the results that it has not been given, at once if its round is complete.
//
// Invariants:
// - A gradient is in one contribution, with its weight: that of its round, or the first one after it came. One that
//   never comes, or is skipped, has no weight anywhere.
// - A worker's pushes have the same numbers as everybody's. A flush waits for all workers, and so for all that they
//   have pushed before; a broadcast as well.
// - Keys with a reduction of their own, such as max, wait for all: what they reduce is no gradient.
// - The node is late in one round at a time: in the next one only when that is complete, whatever it hears of quorums.
// - The node keeps one tensor that is owed per key, and one of missed results per late worker, however late that is.
#ifndef BANYAN_NODE_WORKERS_LATE_WORKERS_H_
#define BANYAN_NODE_WORKERS_LATE_WORKERS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/rounds/round_engine.h"
#include "node/workers/grace.h"
#include "node/workers/local_keys.h"
#include "proto/job_config.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class LateWorkers {
 public:
  // Both outlive this.
  LateWorkers(LocalKeys* keys, const RoundEngine* engine, const AggregationConfig& config)
      : keys_(keys),
        engine_(engine),
        is_on_(config.quorum > 0),
        grace_(config.grace),
        results_replace_(IsOptimizer(config.op)) {}

  bool is_on() const { return is_on_; }
  // Takes up to which rounds a quorum has pushed keys. Returns those of them in which workers here take part.
  std::vector<LocalKey*> OnQuorum(Timestamp now, const std::vector<KeyProgressRun>& runs);
  // Returns the key's next round if this node is to contribute to it now without those who are late.
  std::optional<Round> NextDue(Timestamp now, const LocalKey& local);
  // Returns the keys of which a round may be due since the last call.
  std::vector<LocalKey*> TakeDue(Timestamp now);
  Timestamp NextDeadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }
  // Marks those who are late in the round, which is `local`'s next one. REQUIRES: it was opened.
  void LeaveOut(LocalKey& local, Round round);
  // True if the round counts for a quorum: all workers have pushed gradients to it, and the one before is complete, so
  // that all members have contributed to that.
  bool Counts(const LocalKey& local, Round round) const;

  // Returns whether the next push of the worker is of a round that was contributed without it.
  static bool IsLate(const LocalKey& local, WorkerId worker) {
    return local.last_push[worker.value()] < local.late_through[worker.value()];
  }
  // Takes a late push, but for its numbers; an empty gradient has no part in a sum. Not OK if it is none of a gradient.
  static absl::Status TakeLatePush(LocalKey& local, WorkerId worker, RoundKind kind, const Buffer& gradient);
  // The worker pushes its next round, late or not.
  void OnPush(Timestamp now, LocalKey& local, WorkerId worker);
  // The node contributes to the round, which is of gradients.
  void OnContribute(Timestamp now, LocalKey& local, Round round);
  // Takes what late workers have pushed into the round. REQUIRES: there is something.
  static Buffer TakeOwed(LocalKey& local, LocalRound& round) {
    round.caught_up += std::exchange(local.owed_gradients, 0);
    return std::exchange(local.owed, Buffer());
  }

  // The round is complete here: keeps its result for those who miss it.
  void OnRoundComplete(Timestamp now, LocalKey& local, Round round);
  // Returns what the worker has missed if that is what a call gets which asks for the result of `round`: null when it
  // gets that result itself, or is to wait for it.
  static MissedResults* Find(LocalKey& local, WorkerId worker, Round round);

  // Adds how long this node waits for late workers, and what came of it.
  void AddTo(NodeReport& report) const;
  // Returns the memory that is owed and missed.
  int64_t size_bytes() const;

 private:
  // Takes the result of a complete round from the engine.
  void Keep(const LocalKey& local, Round round, MissedResults& missed) const;

  LocalKeys* keys_;
  const RoundEngine* engine_;
  bool is_on_;
  Grace grace_;
  bool results_replace_;                          // they are parameters
  uint64_t late_rounds_ = 0;                      // of keys, without some late worker
  uint64_t gained_ = 0;                           // gradients that came between the quorum and the contribution
  absl::Duration waited_ = absl::ZeroDuration();  // all keys' waits between them
  std::set<std::pair<Timestamp, KeyId>> deadlines_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LATE_WORKERS_H_
