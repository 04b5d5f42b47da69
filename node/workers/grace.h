// How long a node waits for late workers when a quorum of the job has pushed a round: what the overlay says, or what
// past rounds say. Thread-compatible; owned by LateWorkers.
//
// Past rounds say it as TCP says when to resend: the mean lateness of this node's last worker, and four times its mean
// deviation. So one late round is enough for the next one to wait longer, while in a median of many a worker that has
// become slow would show only when it is too far behind to be waited for.
//
// Invariants:
// - The wait is from a tenth of a step to half of one; a step is how long the others take from a result to the next
//   quorum.
// - After kMostInVain rounds in a row with a worker that is late by more than a step, it waits the least.
// - It is a function of what it was told, in that order.
#ifndef BANYAN_NODE_WORKERS_GRACE_H_
#define BANYAN_NODE_WORKERS_GRACE_H_

#include <optional>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {

class Grace {
 public:
  // Until so many rounds have been seen, this is the wait.
  static constexpr int kLeastRounds = 4;
  static constexpr absl::Duration kUnmeasured = absl::Seconds(2);
  static constexpr absl::Duration kLeast = absl::Milliseconds(10);
  static constexpr int kMostInVain = 3;

  // `fixed` by the overlay; empty: from past rounds.
  explicit Grace(std::optional<absl::Duration> fixed) : fixed_(fixed) {}

  // A worker that was in time before has pushed the round so long after the quorum, or before it: 0.
  void OnArrival(Round round, absl::Duration late);
  // So long after the result of a round the others were a quorum in the next.
  void OnStep(absl::Duration step);
  absl::Duration wait() const;

 private:
  struct Lateness {
    int rounds = 0;
    absl::Duration mean;
    absl::Duration deviation;
    void Add(absl::Duration late, absl::Duration most);
  };

  std::optional<absl::Duration> fixed_;
  std::optional<absl::Duration> step_;
  Lateness lateness_;      // of rounds before the newest
  Round newest_;           // of any key
  absl::Duration latest_;  // in that round, of all keys and workers so far
  int in_vain_ = 0;        // the last rounds before it that a worker was late by more than a step
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_GRACE_H_
