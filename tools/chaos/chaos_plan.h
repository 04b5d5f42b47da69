// The plan of `banyan chaos`: when which fault comes, and whom it hits. Faults come at times of their own, or again and
// again at times that are drawn. Pure: the same seed draws the same. Thread-compatible.
//
// Invariants:
// - faults that come again are `every` apart in the mean, between a half and one and a half of it;
// - the times of one kind do not depend on which other kinds there are, nor on whom faults hit.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/random.h"
#include "tools/chaos/chaos_fault.h"

namespace banyan {

// One line of a schedule. Either `at` or `every` is above 0, or `at` is 0 and the fault comes at once.
struct PlannedFault {
  ChaosKind kind = ChaosKind::kKillNode;
  absl::Duration at = {};     // since faults begin
  absl::Duration every = {};  // on average; 0: once
  // Sites by the names of their nodes; of a link its two ends. Empty: drawn.
  std::vector<std::string> sites = {};
  bool one_way = false;       // of a link: from the first site to the second alone
  absl::Duration lasts = {};  // 0: as long as faults of this kind do unless told
  double rate_bps = 0;        // of a link that is slowed down; 0: a tenth of what it had
};

// Reads a schedule: a map with the list `faults`. INVALID_ARGUMENT names the place and what was expected there.
absl::StatusOr<std::vector<PlannedFault>> ReadChaosSchedule(absl::string_view text, absl::string_view file_name);

class ChaosPlan {
 public:
  ChaosPlan(std::vector<PlannedFault> faults, uint64_t seed);

  // Returns the time of the next fault since the start; infinite when there is none.
  absl::Duration NextTime() const;
  // Returns it, and goes on to the one after it. REQUIRES: NextTime() is finite.
  const PlannedFault& Take();
  // Returns one of `count` candidates. REQUIRES: count > 0.
  size_t Draw(size_t count) { return static_cast<size_t>(targets_.Below(count)); }

 private:
  struct Series {
    PlannedFault fault;
    Random random;
    absl::Duration next;  // infinite when it has come for the last time
  };

  static absl::Duration DrawGap(Series& series);
  const Series* Next() const;

  Random targets_;
  std::vector<Series> series_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_PLAN_H_
