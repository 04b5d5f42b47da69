#include "node/peers/neighbour.h"

#include <algorithm>
#include <utility>

namespace banyan {

LinkRound Neighbour::EndRound(std::optional<absl::Duration> took, Timestamp now) {
  link.CountBusy(now);
  const PeerLink::Counters& counters = link.counters();
  const PeerLink::Counters before = std::exchange(before_round, counters);
  const absl::Duration busy = counters.busy - before.busy;
  const uint64_t resent_bytes = counters.resent_bytes - before.resent_bytes;
  const uint64_t hedged_bytes = counters.hedged_bytes - before.hedged_bytes;
  const uint64_t new_bytes = counters.sent_bytes - before.sent_bytes - resent_bytes - hedged_bytes;
  busy_share = took.has_value() ? std::min(1.0, absl::ToDoubleSeconds(busy) / absl::ToDoubleSeconds(*took)) : 0;
  return {slice.node, static_cast<int64_t>(new_bytes), busy, resent_bytes > 0};
}

NodeReport::Link Neighbour::Report(bool is_measured, Timestamp now) const {
  const PeerLink::Counters& counters = link.counters();
  return {slice.node,
          counters.sent_bytes,
          counters.resent_bytes,
          counters.auxiliary_bytes,
          busy_share,
          is_measured ? meter.Measure(now) : std::nullopt};
}

}  // namespace banyan
