// What happens on a simulated WAN's links while a job runs: their rates change, and others send over them. Values and
// pure functions; thread-compatible.
#ifndef BANYAN_TOPOLOGY_OVERLAY_LINK_SCHEDULE_H_
#define BANYAN_TOPOLOGY_OVERLAY_LINK_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "topology/network_view.h"

namespace banyan {

// --- changes ---

// Either links change at times that a file lists, or all change again and again at random from a seed. The evaluation
// of NETSTORM (section IX) does the latter.

// From then on the link has this rate.
struct LinkChange {
  absl::Duration at;  // after the start of the simulation
  NodeId from;
  NodeId to;
  double rate_bps = 0;

  friend bool operator==(const LinkChange&, const LinkChange&) = default;
};

// Every `period` the rates of so many of the directed links are drawn anew, uniformly in [low_bps, high_bps].
struct LinkRedraw {
  absl::Duration period;  // above 0
  double low_bps = 0;
  double high_bps = 0;
  double fraction = 1;
  uint64_t seed = 1;
};

// Reads `changes: [{at_seconds: 60, from: n1, to: n2, mbps: 12}, ..]`, in any order. INVALID_ARGUMENT reads
// `file:line: ...`; also for a link that `view` does not have.
absl::StatusOr<std::vector<LinkChange>> ParseLinkChanges(absl::string_view text, absl::string_view file_name,
                                                         const NetworkView& view);
// Likewise from a file; NOT_FOUND when there is none.
absl::StatusOr<std::vector<LinkChange>> LoadLinkChanges(const std::string& path, const NetworkView& view);

// Returns what the `index`-th redraw, from 1, changes of `links`: a function of its arguments alone.
std::vector<LinkChange> DrawLinkChanges(const LinkRedraw& redraw, uint64_t index,
                                        absl::Span<const std::pair<NodeId, NodeId>> links);

// --- what others send: bursts of a rate that yields to nobody ---

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

#endif  // BANYAN_TOPOLOGY_OVERLAY_LINK_SCHEDULE_H_
