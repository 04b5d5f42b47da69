// The faults that `banyan chaos` does to a running job. Values; the functions are pure.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

enum class ChaosKind : uint8_t { kKillNode, kStopNode, kCutLink, kKillWorker, kKillScheduler };

inline constexpr ChaosKind kChaosKinds[] = {ChaosKind::kKillNode, ChaosKind::kStopNode, ChaosKind::kCutLink,
                                            ChaosKind::kKillWorker, ChaosKind::kKillScheduler};

// "kill_node", as in JSON.
const char* NameOf(ChaosKind kind);

struct ChaosFault {
  ChaosKind kind = ChaosKind::kKillNode;
  std::string target = {};       // "node n3", "n1 > n2", "n1 - n2" for both directions
  std::string node = {};         // whose data centre it hits; empty for links and the scheduler
  std::optional<int> rank = {};  // of the training process, when it alone is hit
  Timestamp at = {};
  absl::Duration lasts = {};  // until it is undone; 0 when nothing is
};

// "kills node n3", "stops node n5 for 6s", "cuts n1 > n2 for 10s".
std::string DescribeFault(const ChaosFault& fault);
// "lets node n5 go on", "heals n1 > n2".
std::string DescribeUndoing(const ChaosFault& fault);

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_
