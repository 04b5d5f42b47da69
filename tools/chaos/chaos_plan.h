// The faults that `banyan chaos` does to a running job, and the plan that draws when which kind comes next, and whom it
// hits. Pure: the same seed draws the same. Thread-compatible.
//
// Invariants:
// - the faults of a kind are `every` apart in the mean, between a half and one and a half of it;
// - the times of one kind do not depend on which other kinds there are, nor on whom faults hit.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
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

struct ChaosInterval {
  ChaosKind kind = ChaosKind::kKillNode;
  absl::Duration every;  // above 0
};

class ChaosPlan {
 public:
  ChaosPlan(const std::vector<ChaosInterval>& intervals, uint64_t seed);

  // Returns the time of the next fault since the start; infinite when there is none.
  absl::Duration NextTime() const;
  // Returns its kind, and goes on to the one after it. REQUIRES: NextTime() is finite.
  ChaosKind Take();
  // Returns one of `count` candidates. REQUIRES: count > 0.
  size_t Draw(size_t count) { return static_cast<size_t>(targets_.Below(count)); }

 private:
  struct Series {
    ChaosInterval interval;
    Random random;
    absl::Duration next;
  };

  static absl::Duration DrawGap(Series& series);
  const Series* Next() const;

  Random targets_;
  std::vector<Series> series_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_
