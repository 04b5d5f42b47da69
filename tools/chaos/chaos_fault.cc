#include "tools/chaos/chaos_fault.h"

#include "absl/strings/str_cat.h"

namespace banyan {

const char* NameOf(ChaosKind kind) {
  switch (kind) {
    case ChaosKind::kKillNode:
      return "kill_node";
    case ChaosKind::kStopNode:
      return "stop_node";
    case ChaosKind::kCutLink:
      return "cut_link";
    case ChaosKind::kKillWorker:
      return "kill_worker";
    case ChaosKind::kKillScheduler:
      return "kill_scheduler";
  }
  return "";
}

std::string DescribeFault(const ChaosFault& fault) {
  const std::string time = absl::StrCat(" for ", absl::FormatDuration(fault.lasts));
  if (fault.kind == ChaosKind::kStopNode) return absl::StrCat("stops ", fault.target, time);
  if (fault.kind == ChaosKind::kCutLink) return absl::StrCat("cuts ", fault.target, time);
  return absl::StrCat("kills ", fault.target);
}

std::string DescribeUndoing(const ChaosFault& fault) {
  if (fault.kind == ChaosKind::kStopNode) return absl::StrCat("lets ", fault.target, " go on");
  return absl::StrCat("heals ", fault.target);
}

}  // namespace banyan
