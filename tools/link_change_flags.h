// The flags that say how the rates of links change while something runs, the same for the simulator and the emulated
// WAN. A value; thread-compatible.
#ifndef BANYAN_TOOLS_LINK_CHANGE_FLAGS_H_
#define BANYAN_TOOLS_LINK_CHANGE_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/command_line.h"
#include "tools/rate_range.h"
#include "topology/network_view.h"
#include "topology/overlay/link_schedule.h"

namespace banyan {

class LinkChangeFlags {
 public:
  // Declares them; this object must outlive the parsing.
  void AddTo(CommandLine& line);

  std::optional<LinkRedraw> Redraw(uint64_t seed) const;
  bool ReadsStandardInput() const { return changes_ == "-"; }
  // Those of the file, in order of time; none without one.
  absl::StatusOr<std::vector<LinkChange>> LoadChanges(const NetworkView& view) const;

 private:
  std::string changes_;  // a file; empty for none
  double redraw_seconds_ = 0;
  std::optional<RateRange> redraw_rates_;
  double redraw_fraction_ = 1;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_LINK_CHANGE_FLAGS_H_
