// The rate changes of a run in order of time: those that a file lists and those drawn from a seed, as the simulator
// takes them (topology/overlay/link_schedule.h). Pure; thread-compatible.
#ifndef BANYAN_WAN_RATE_SCRIPT_H_
#define BANYAN_WAN_RATE_SCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "topology/overlay/link_schedule.h"

namespace banyan {

class RateScript {
 public:
  // `changes` are sorted by time, as LoadLinkChanges returns them; `links` are those that a redraw draws from, in the
  // order of the overlay's view.
  RateScript(std::vector<LinkChange> changes, std::optional<LinkRedraw> redraw,
             std::vector<std::pair<NodeId, NodeId>> links);

  // Returns the time after the start at which the next change is due; infinite when there is none.
  absl::Duration NextAt() const;
  // Returns the changes that are due at `elapsed` after the start and have not been taken, in order of time. A redraw
  // goes before listed changes of its moment.
  std::vector<LinkChange> Take(absl::Duration elapsed);

 private:
  absl::Duration NextListed() const;
  absl::Duration NextRedraw() const;

  std::vector<LinkChange> changes_;
  size_t taken_ = 0;
  std::optional<LinkRedraw> redraw_;
  uint64_t redraws_ = 0;
  std::vector<std::pair<NodeId, NodeId>> links_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_RATE_SCRIPT_H_
