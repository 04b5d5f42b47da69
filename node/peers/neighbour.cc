#include "node/peers/neighbour.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

LinkRound Neighbour::EndRound(std::optional<absl::Duration> took, Timestamp now) {
  link.CountBusy(now);
  const PeerLink::Counters& counters = link.counters();
  const PeerLink::Counters before = std::exchange(before_round, counters);
  const absl::Duration busy = counters.busy - before.busy;
  const uint64_t resent_bytes = counters.resent_bytes - before.resent_bytes;
  const uint64_t hedged_bytes = counters.hedged_bytes - before.hedged_bytes;
  const uint64_t new_bytes = counters.sent_bytes - before.sent_bytes - resent_bytes - hedged_bytes;
  link.reported().busy_share =
      took.has_value() ? std::min(1.0, absl::ToDoubleSeconds(busy) / absl::ToDoubleSeconds(*took)) : 0;
  const uint64_t result_bytes = counters.result_bytes - before.result_bytes;
  const auto excess_bytes = static_cast<double>(counters.excess_bytes - before.excess_bytes);
  const double in_time = result_bytes == 0 ? 1 : 1 - excess_bytes / static_cast<double>(result_bytes);
  return {slice.node, static_cast<int64_t>(new_bytes), busy, resent_bytes > 0, in_time};
}

void Neighbour::NoteRenewal(StepContext& step, absl::Duration silence) {
  const uint64_t renewals = ++link.reported().renewals;
  if (!std::has_single_bit(renewals)) return;
  step.Log(LogLevel::kWarning,
           absl::StrCat("nothing passed over a connection to ", slice.name, " at ", slice.address, " for ",
                        absl::FormatDuration(absl::Trunc(silence, absl::Milliseconds(1))),
                        ", so that it is made anew (", renewals, " so far); has a NAT or a firewall forgotten it?"));
}

PaceSearch::Shown Neighbour::Shown(Timestamp now) const {
  PaceSearch::Shown shown;
  if (const std::optional<LinkMeasurement> measured = meter.Measure(now); measured.has_value()) {
    shown.rate_bps = measured->rate_bps;
    shown.is_backlogged = measured->is_backlogged;
  }
  if (const std::optional<LinkMeter::Sample> newest = meter.NewestSample(now); newest.has_value()) {
    shown.newest_bps = newest->rate_bps;
    shown.newest_at = newest->at;
  }
  return shown;
}

NodeReport::Link Neighbour::Report(bool is_measured, Timestamp now) const {
  NodeReport::Link report{link.counters(), slice.node, is_measured ? meter.Measure(now) : std::nullopt};
  report.is_blocked = link.stall_watch().is_blocked();
  return report;
}

}  // namespace banyan
