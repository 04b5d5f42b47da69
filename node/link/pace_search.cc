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
  if (shown.newest_at > looked_at_) Look(now, known_bps, base_bps, shown);
  const absl::Duration patience = std::max(kPatience, kPatienceAckTimes * wanted.ack_time);
  if (is_searching() && now - *searches_since_ >= patience) searches_since_.reset();
  return is_searching() ? std::max(base_bps, pace_bps_) : base_bps;
}

void PaceSearch::Look(Timestamp now, double known_bps, double pace_bps, const Shown& shown) {
  looked_at_ = shown.newest_at;
  const bool begins = !is_searching() && shown.newest_bps >= kFaster * known_bps;
  if (begins) pace_bps_ = std::max(pace_bps, shown.newest_bps);
  if (begins || is_searching()) found_bps_ = std::max(found_bps_, shown.newest_bps);
  const bool keeps_up = is_searching() && shown.newest_bps >= kKeepsUp * pace_bps_;
  if (!begins && !keeps_up) return;
  pace_bps_ *= kStep;
  searches_since_ = now;
}

}  // namespace banyan
