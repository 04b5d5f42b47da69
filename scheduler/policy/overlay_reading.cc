#include "scheduler/policy/overlay_reading.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/policy/overlay_change.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// A file with thousands of links may change each of them.
constexpr size_t kMostChangesTold = 20;

std::string Summarize(std::vector<std::string> changes) {
  if (changes.empty()) return "nothing differs, and the planner was asked again";
  const size_t more = changes.size() - std::min(changes.size(), kMostChangesTold);
  changes.resize(changes.size() - more);
  return absl::StrCat(absl::StrJoin(changes, "; "), more > 0 ? absl::StrCat("; and ", more, " more") : "");
}

}  // namespace

std::string Reconfiguration::Reason() const {
  return absl::StrCat("a reconfiguration with ", text.file_name, ": ", changes);
}

absl::StatusOr<Reconfiguration> OverlayReading::Read() const {
  Reconfiguration wanted;
  wanted.text = text_;
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text_.yaml, text_.file_name);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> changes = CompareOverlays(running_, *overlay, element_bytes_);
  if (!changes.ok()) return changes.status();
  wanted.believed = MakeNetworkView(*overlay);
  absl::StatusOr<PlannerConfig> planner_config = MakePlannerConfig(*overlay, wanted.believed);
  if (!planner_config.ok()) return planner_config.status();
  wanted.planner_config = *std::move(planner_config);
  wanted.changes = Summarize(*std::move(changes));
  wanted.overlay = *std::move(overlay);
  return wanted;
}

}  // namespace banyan
