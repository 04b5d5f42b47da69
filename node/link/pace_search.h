// Searches for the rate of a link by its pace. The policies say how fast the link is believed to be, and may be wrong:
// a link shows its rate only as far as its pace lets it. So a link that keeps up with its pace gets twice of it, again
// and again, until it does not keep up any more. Thread-compatible value; owned by Neighbour.
//
// Invariants:
// - A pace is above what is measured, so that a faster link shows it (PaceAfter).
// - A link that was found much slower than believed goes at kAboveSlow times what is measured, or as its policies say.
// - A search that found nothing is not repeated before the link has shown more than it found.
// - A link of a guessed rate has no pace until it has shown its rate.
#ifndef BANYAN_NODE_LINK_PACE_SEARCH_H_
#define BANYAN_NODE_LINK_PACE_SEARCH_H_

#include <optional>

#include "absl/time/time.h"
#include "core/time.h"
#include "node/link/link_window.h"

namespace banyan {

class PaceSearch {
 public:
  // A link that shows this much more than it was known for is searched.
  static constexpr double kFaster = 1.05;
  static constexpr double kStep = 2;
  // A link that shows this part of a pace that has just been raised keeps up with it: its transport has to follow
  // first.
  static constexpr double kKeepsUp = 0.6;
  static constexpr double kAboveSlow = 2;
  static constexpr double kAboveGuessed = 1.25;
  // So long a search waits for a transport to follow; longer where acks take longer.
  static constexpr absl::Duration kPatience = absl::Milliseconds(600);
  static constexpr double kPatienceAckTimes = 8;

  // What a link has shown, as its meter says.
  struct Shown {
    double rate_bps = 0;         // 0: nothing
    bool is_backlogged = false;  // else at least `rate_bps`
    double newest_bps = 0;       // of the newest sample of the busy link; 0: none
    Timestamp newest_at;
  };

  // Returns the pace of a link with the window that its policies want and that has shown `shown`.
  double PaceFor(Timestamp now, const LinkWindow& wanted, const Shown& shown);

  bool is_searching() const { return searches_since_.has_value(); }

 private:
  static double Base(const LinkWindow& wanted, const Shown& shown);
  void Look(Timestamp now, double known_bps, double pace_bps, const Shown& shown);

  Timestamp looked_at_;  // newest_at of the sample that was looked at last
  std::optional<Timestamp> searches_since_;
  double pace_bps_ = 0;   // of the search
  double found_bps_ = 0;  // the most that the link has shown in it, or in the last one
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_PACE_SEARCH_H_
