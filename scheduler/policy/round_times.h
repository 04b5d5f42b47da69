// Measures how long rounds take, and corrects predictions by it. Time is handed in. Thread-compatible; owned by
// Replanner.
//
// Why: a link that the trees use only for a part of a round is at times measured far too low. A plan that believes such
// a rate predicts slow rounds for the policy in use, and promises to be faster. Measured rounds are a second witness:
// if rounds that began after the links "changed" are as fast as before, the links have not changed.
//
// Invariants:
// - A round counts when every member has reported it. It takes as long as the member that waited longest says.
// - Only synchronisations of the whole model count.
// - Rounds under an earlier policy tell nothing about the one in use.
#ifndef BANYAN_SCHEDULER_POLICY_ROUND_TIMES_H_
#define BANYAN_SCHEDULER_POLICY_ROUND_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class RoundTimes {
 public:
  // Takes a node's report of its last synchronisation. One that is new counts as ending now, if it was of the whole
  // model, of `model_elements`.
  void Accept(Timestamp now, NodeId node, const NodeReport::Synchronisation& last, int64_t model_elements);
  // Notes that another policy is in use from now on, among `members`. Its rounds are predicted to take `promised`; 0 or
  // infinite when unknown.
  void NoteAdopted(Timestamp now, std::vector<NodeId> members, absl::Duration promised);
  // Notes that the policy governs all open rounds from now on. Calls after the first have no effect.
  void NoteGoverning(Timestamp now);

  // Returns how long the last round of the policy took; empty until every member has reported one that began at `since`
  // or later.
  std::optional<absl::Duration> Last(Timestamp since) const;

  // Returns the most rounds that a member has reported, under whatever policy. Nodes without workers report none.
  uint64_t ended() const;

  // Returns how long the last rounds took that began after NoteGoverning, oldest first, kMostKept at most. The first
  // one is left out: queues and windows still were those of the policy before.
  absl::Span<const absl::Duration> Governed() const { return governed_; }
  // Returns for how long the policy has governed all open rounds.
  absl::Duration GovernedFor(Timestamp now) const;

  // Returns `predicted`, capped by evidence: the last round since `since`, divided by the usual ratio of measured to
  // predicted time. That ratio comes from Learn; before that, from the promise and the fastest governed round.
  absl::Duration Credible(absl::Duration predicted, Timestamp since) const;
  // Learns the ratio of measured to predicted time from a plan that predicted `predicted` for the policy, which stays.
  void Learn(absl::Duration predicted, Timestamp since);

 private:
  // The overhead is a mean of samples. The newest one weighs 1 / kMostSamples, and more while there are fewer.
  static constexpr int kMostSamples = 8;
  static constexpr size_t kMostKept = 8;

  struct Round {
    Timestamp began_at;
    absl::Duration duration = absl::ZeroDuration();
  };

  // Returns the usual ratio of measured to predicted time, 1 or more.
  double Overhead() const;
  // Adds a governed round once all members have reported it.
  void NoteRound(NodeId node, const Round& round);

  std::vector<NodeId> members_;
  Timestamp adopted_at_;
  absl::Duration promised_;
  std::optional<Timestamp> governing_since_;
  std::map<NodeId, absl::Duration> told_;  // of the round that some members have not reported yet
  bool is_settled_ = false;                // the first governed round is over
  std::vector<absl::Duration> governed_;
  std::map<NodeId, uint64_t> counts_;
  std::map<NodeId, uint64_t> ended_;  // rounds, by who has reported them
  std::map<NodeId, Round> rounds_;
  double overhead_ = 1;  // measured over predicted time, 1 or more
  int samples_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_ROUND_TIMES_H_
