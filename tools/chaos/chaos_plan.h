// The plan of `banyan chaos`: draws when which kind of fault comes next, and whom it hits. Pure: the same seed draws
// the same. Thread-compatible.
//
// Invariants:
// - the faults of a kind are `every` apart in the mean, between a half and one and a half of it;
// - the times of one kind do not depend on which other kinds there are, nor on whom faults hit.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
#include "tools/chaos/chaos_fault.h"

namespace banyan {

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
