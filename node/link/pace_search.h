// Searches for the rate of a link by its pace. The policies say how fast the link is believed to be, and may be wrong:
// a link shows its rate only as far as its pace lets it. So a link that is faster than it was known for gets twice of
// its pace, again and again, until it does not keep up any more. Thread-compatible value; owned by Neighbour.
//
// Headers and congestion control take up to a twelfth of a pace, so that a link which is held back by its pace alone
// may show no more than is known of it, and policies then believe in that. So a link that keeps up with its pace is
// lifted now and then: its pace is a quarter higher for a while. If the link follows, a search begins.
//
// Invariants:
// - A pace is above what is measured, so that a faster link shows it (PaceAfter).
// - A link that was found much slower than believed goes at kAboveSlow times what is measured, or as its policies say.
// - A search that found nothing is not repeated before the link has shown more than it found.
// - A link of a guessed rate has no pace until it has shown its rate.
// - A link is lifted once in kLiftsEvery. One that has lost some of its rate is lifted kLiftsSoon later, and again
// after
//   twice as long each time, up to kLiftsOften: what made it slow may be over. In some minutes it is forgotten that the
//   link was ever faster.
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

  static constexpr double kLift = 1.25;
  // A link that shows this part of its pace is held back by it, or may be.
  static constexpr double kHeldBack = 0.85;
  static constexpr absl::Duration kLiftsEvery = absl::Minutes(1);
  static constexpr absl::Duration kLiftsSoon = absl::Seconds(2);
  static constexpr absl::Duration kLiftsOften = absl::Seconds(16);
  // A lift lasts for so many samples, of which the first was partly before, and until a transport has had the time to
  // follow. It is over where no samples come.
  static constexpr int kSamplesOfLift = 3;
  static constexpr absl::Duration kLongestLift = absl::Seconds(10);
  // What is left, after each lift in vain, of the most that the link has shown.
  static constexpr double kFades = 0.9;

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
  bool is_lifted() const { return lifted_since_.has_value(); }

 private:
  static double Base(const LinkWindow& wanted, const Shown& shown);
  void Look(Timestamp now, double known_bps, double pace_bps, const Shown& shown);
  // Begins and ends lifts. `base_bps` is the pace without any; `patience`: for which a transport is waited.
  void Lift(Timestamp now, double base_bps, absl::Duration patience, const Shown& shown);

  Timestamp looked_at_;  // newest_at of the sample that was looked at last
  std::optional<Timestamp> searches_since_;
  double pace_bps_ = 0;   // of the search
  double found_bps_ = 0;  // the most that the link has shown in it, or in the last one

  std::optional<Timestamp> lifted_since_;
  int samples_of_lift_ = 0;
  Timestamp lifted_until_;  // the last lift, or when the first sample came
  absl::Duration lifts_after_ = kLiftsEvery;
  double most_bps_ = 0;  // that the link has shown; fades
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_PACE_SEARCH_H_
