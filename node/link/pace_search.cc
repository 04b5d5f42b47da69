#include "node/link/pace_search.h"

#include <algorithm>

namespace banyan {

double PaceSearch::Base(const LinkWindow& wanted, const Shown& shown) {
  if (wanted.is_guessed) return shown.is_backlogged ? kAboveGuessed * shown.rate_bps : kUnpaced;
  if (wanted.pace_bps == kUnpaced) return kUnpaced;
  const double believed_bps =
      shown.is_backlogged ? std::min(wanted.pace_bps, kAboveSlow * shown.rate_bps) : wanted.pace_bps;
  return PaceAfter(believed_bps, shown.rate_bps);
}

double PaceSearch::PaceFor(Timestamp now, const LinkWindow& wanted, const Shown& shown) {
  const double base_bps = Base(wanted, shown);
  if (base_bps == kUnpaced || shown.newest_bps <= 0) return base_bps;
  // What the link had was lost: it may come back.
  if (shown.is_backlogged && shown.rate_bps < found_bps_ / kStep) found_bps_ = shown.rate_bps;
  const double known_bps = std::max(found_bps_, wanted.is_guessed ? shown.rate_bps : wanted.pace_bps);
  const absl::Duration patience = std::max(kPatience, kPatienceAckTimes * wanted.ack_time);
  if (shown.newest_at > looked_at_) Look(now, known_bps, base_bps, shown);
  if (is_searching() && now - *searches_since_ >= patience) searches_since_.reset();
  Lift(now, base_bps, patience, shown);
  if (is_searching()) return std::max(base_bps, pace_bps_);
  return is_lifted() ? kLift * base_bps : base_bps;
}

void PaceSearch::Look(Timestamp now, double known_bps, double pace_bps, const Shown& shown) {
  looked_at_ = shown.newest_at;
  ++samples_of_lift_;
  const bool begins = !is_searching() && shown.newest_bps >= kFaster * known_bps;
  if (begins) pace_bps_ = std::max(pace_bps, shown.newest_bps);
  if (begins || is_searching()) found_bps_ = std::max(found_bps_, shown.newest_bps);
  const bool keeps_up = is_searching() && shown.newest_bps >= kKeepsUp * pace_bps_;
  if (!begins && !keeps_up) return;
  pace_bps_ *= kStep;
  searches_since_ = now;
}

void PaceSearch::Lift(Timestamp now, double base_bps, absl::Duration patience, const Shown& shown) {
  if (!shown.is_backlogged) return;
  if (most_bps_ == 0) lifted_until_ = now;
  most_bps_ = std::max(most_bps_, shown.rate_bps);
  const bool has_lost = shown.rate_bps < most_bps_ / kLift;
  if (!has_lost) lifts_after_ = kLiftsEvery;
  if (has_lost && lifts_after_ == kLiftsEvery) lifts_after_ = kLiftsSoon;
  if (is_searching()) {
    // The link has followed, or was faster without a lift.
    lifted_since_.reset();
    lifted_until_ = now;
    if (has_lost) lifts_after_ = kLiftsSoon;
    return;
  }
  if (is_lifted()) {
    const absl::Duration lasted = now - *lifted_since_;
    if ((samples_of_lift_ < kSamplesOfLift || lasted < patience) && lasted < kLongestLift) return;
    lifted_since_.reset();
    lifted_until_ = now;
    most_bps_ *= kFades;
    if (has_lost) lifts_after_ = std::min(2 * lifts_after_, kLiftsOften);
    return;
  }
  if (now - lifted_until_ < lifts_after_ || shown.newest_bps < kHeldBack * base_bps) return;
  lifted_since_ = now;
  samples_of_lift_ = 0;
  found_bps_ = std::min(found_bps_, shown.rate_bps);
}

}  // namespace banyan
