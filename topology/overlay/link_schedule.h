// The changes of a simulated WAN's links while a job runs. Either links change at times that a file lists, or all
// change again and again at random from a seed. The evaluation of NETSTORM (section IX) does the latter. Values and
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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_LINK_SCHEDULE_H_
