#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/quantity.h"
#include "tools/flags/shared_flags.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

absl::StatusOr<std::optional<int>> ReadRoots(absl::string_view text) {
  if (text == "all") return std::optional<int>();
  const absl::StatusOr<int64_t> roots = ParseCount(text);
  if (roots.ok() && *roots >= 1 && *roots <= kMaxOverlayNodes) return std::optional<int>(static_cast<int>(*roots));
  return absl::InvalidArgumentError(
      absl::StrCat("expected all or a whole number from 1 to ", kMaxOverlayNodes, ", got '", text, "'"));
}

}  // namespace

absl::Status CheckPlannerUse(const std::string& flag, const std::string& planner) {
  const std::string fault = UseFault(flag, planner);
  if (fault.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", fault, "; add --planner ",
                                                 PlannersWith(flag).front(), ", or leave --", flag, " out"));
}

void PlannerFlags::AddTo(CommandLine& line) {
  line.Choice("planner", PlannerNames(), "instead of the file's topology.planner", &planner_);
  line.Custom("roots", "N|all", "fapt, packed: how many roots", [this](absl::string_view value) {
    const absl::StatusOr<std::optional<int>> roots = ReadRoots(value);
    if (!roots.ok()) return roots.status();
    has_roots_ = true;
    roots_ = *roots;
    return absl::OkStatus();
  });
  line.Choice("shares", {"quality", "balanced"}, "fapt, custom: instead of the file's topology.shares", &shares_);
}

absl::Status PlannerFlags::Apply(OverlayConfig& overlay) const {
  TopologyConfig& topology = overlay.topology;
  if (!planner_.empty()) topology.planner = planner_;
  absl::Status status;
  if (has_roots_) status.Update(CheckPlannerUse("roots", topology.planner));
  if (!shares_.empty()) status.Update(CheckPlannerUse("shares", topology.planner));
  if (!status.ok()) return status;
  if (has_roots_) topology.roots = roots_;
  if (!shares_.empty()) topology.shares = shares_ == "balanced" ? ShareRule::kBalanced : ShareRule::kQuality;
  const int nodes = static_cast<int>(overlay.nodes.size());
  if (topology.roots.value_or(0) <= nodes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--roots ", *topology.roots, ": the overlay has only ", nodes, " nodes"));
}

}  // namespace banyan
