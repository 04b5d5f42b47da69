// The flags by which commands choose a planner and what it shall do, instead of what the overlay says.
// Thread-compatible.
#ifndef BANYAN_TOOLS_FLAGS_PLANNER_FLAGS_H_
#define BANYAN_TOOLS_FLAGS_PLANNER_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/command_line.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class PlannerFlags {
 public:
  // Declares --planner, --roots and --shares in `line`, which this must outlive.
  void AddTo(CommandLine& line);

  // Puts what was given into `overlay`. INVALID_ARGUMENT names a flag that the planner has no use for, or more roots
  // than there are nodes.
  absl::Status Apply(OverlayConfig& overlay) const;

  bool has_roots() const { return has_roots_; }
  const std::optional<int>& roots() const { return roots_; }

 private:
  std::string planner_;  // empty: the file's
  bool has_roots_ = false;
  std::optional<int> roots_;  // empty with has_roots_: all
  std::string shares_;        // empty: the file's
};

// Refuses `flag` (without its dashes) unless `planner` has a use for it.
absl::Status CheckPlannerUse(const std::string& flag, const std::string& planner);

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAGS_PLANNER_FLAGS_H_
