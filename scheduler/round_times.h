// Holds predictions against what rounds took. The rate of a link that the trees use for a part of a round only is at
// times measured far too low, since its sender was never fast for long enough; a plan that believes it promises to be
// faster than rounds that were never as slow as predicted. What rounds took is a second witness: when rounds that began
// after the links were found to have changed are as fast as before, the links are. Time is handed in.
// Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_ROUND_TIMES_H_
#define BANYAN_SCHEDULER_ROUND_TIMES_H_

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
  // Takes a node's report. A synchronisation that ended since the node's last report counts as one that ends now, when
  // it is one of the whole model.
  void Accept(Timestamp now, NodeId node, const NodeReport::Synchronisation& last, int64_t model_elements);
  // Another policy is in use from now on, among these nodes: what was seen tells nothing of it. Its rounds are promised
  // to take `promised`; 0 or infinite when unknown.
  void NoteAdopted(Timestamp now, std::vector<NodeId> members, absl::Duration promised);
  // It governs all open rounds from now on. Without effect when it has before.
  void NoteGoverning(Timestamp now);

  // What the last round of the policy took, as the node says that waited longest; empty until every member has told of
  // one that began at `since` or later.
  std::optional<absl::Duration> Last(Timestamp since) const;

  // The last rounds that the policy governed, at most kMostKept, in their order: of those that nodes have told of since
  // it governs all, without the first, in which queues and windows still were what they were.
  absl::Span<const absl::Duration> Governed() const { return governed_; }
  // For how long it has governed all rounds.
  absl::Duration GovernedFor(Timestamp now) const;

  // What a round takes that is predicted to take `predicted` on links that have changed last at `since`: no longer than
  // rounds since then took, less what rounds have always taken longer than predicted: than the last plannings said, or
  // at the least than was promised while there was none.
  absl::Duration Credible(absl::Duration predicted, Timestamp since) const;
  // A planning predicted that and the policy stays: how much longer rounds take than predicted is learned from it.
  void Learn(absl::Duration predicted, Timestamp since);

 private:
  // The overhead is a mean in which a sample's weight is one part of so many, or of all when these are fewer.
  static constexpr int kMostSamples = 8;
  static constexpr size_t kMostKept = 8;

  struct Round {
    Timestamp began_at;
    absl::Duration duration = absl::ZeroDuration();
  };

  double Overhead() const;
  // Makes a round of what all members have told.
  void NoteRound(NodeId node, const Round& round);

  std::vector<NodeId> members_;
  Timestamp adopted_at_;
  absl::Duration promised_;
  std::optional<Timestamp> governing_since_;
  std::map<NodeId, absl::Duration> told_;  // of the round that some members have not told of yet
  bool is_settled_ = false;                // the first governed round is over
  std::vector<absl::Duration> governed_;
  std::map<NodeId, uint64_t> counts_;
  std::map<NodeId, Round> rounds_;
  double overhead_ = 1;  // rounds take so many times as long as predicted, 1 or more
  int samples_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUND_TIMES_H_
