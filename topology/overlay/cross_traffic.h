// What others send over a simulated WAN's links while a job runs: bursts of a rate that yields to nobody. Values and
// pure functions; thread-compatible.
#ifndef BANYAN_TOPOLOGY_OVERLAY_CROSS_TRAFFIC_H_
#define BANYAN_TOPOLOGY_OVERLAY_CROSS_TRAFFIC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "topology/network_view.h"

namespace banyan {

// Again and again: `rate_bps` for `on`, and nothing for `off`.
struct CrossTraffic {
  NodeId from;
  NodeId to;
  double rate_bps = 0;
  absl::Duration on;   // above 0
  absl::Duration off;  // 0: without a pause
  absl::Duration first_at;

  friend bool operator==(const CrossTraffic&, const CrossTraffic&) = default;
};

// Returns whether it is sent at `elapsed` after the start.
bool IsOn(const CrossTraffic& traffic, absl::Duration elapsed);
// Returns the first time after `elapsed` at which it begins.
absl::Duration NextBurst(const CrossTraffic& traffic, absl::Duration elapsed);

// Reads `traffic: [{from: n1, to: n2, mbps: 20, on_seconds: 2, off_seconds: 3, first_at_seconds: 10}, ..]`; the last
// may be left out. INVALID_ARGUMENT reads `file:line: ...`; also for a link that `view` does not have.
absl::StatusOr<std::vector<CrossTraffic>> ParseCrossTraffic(absl::string_view text, absl::string_view file_name,
                                                            const NetworkView& view);
// Likewise from a file; NOT_FOUND when there is none.
absl::StatusOr<std::vector<CrossTraffic>> LoadCrossTraffic(const std::string& path, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_CROSS_TRAFFIC_H_
