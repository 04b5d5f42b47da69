// What a job's page shows over time, taken from one status after the other: rounds and policies. A value;
// thread-compatible.
// Invariants:
// - At most kMostRounds and kMostPolicies are kept, the newest: a page that is open for weeks stays as it is.
// - Rounds and versions of policies ascend. Where they go back, another job has begun, and so do both.
#ifndef BANYAN_TOOLS_PAGE_JOB_HISTORY_H_
#define BANYAN_TOOLS_PAGE_JOB_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tools/reports/status_view.h"

namespace banyan {

class JobHistory {
 public:
  static constexpr size_t kMostRounds = 600;
  static constexpr size_t kMostPolicies = 50;

  // Takes what is new in `status`, which came at `now`. `change` tells this status from others; it rises.
  void Add(const StatusView& status, absl::Time now, uint64_t change);

  // Returns what came after `change` as JSON, or an empty text when nothing did:
  // - `all`: whether this is all that is kept, in place of what was told before
  // - `rounds`: [{`at_s` (since 1970), `round`, `seconds` (its synchronisation, of the slowest node),
  //   `predicted_seconds` (null when unknown), `loss` (mean over nodes that tell one, else null), `bytes` (sent so far
  //   over all links), `policy`}]. Nodes report once a heartbeat, so that rounds are passed over when they are short.
  // - `policies`: [{`at_s`, `policy`, `planner`, `rate_mbps`, `bound_mbps`, `predicted_seconds`, `trees`, `reason`}].
  std::string JsonSince(uint64_t change) const;

 private:
  struct RoundEntry {
    uint64_t change = 0;
    double at_s = 0;
    int64_t round = 0;
    double seconds = 0;
    std::optional<double> predicted_s;
    std::optional<double> loss;
    uint64_t sent_bytes = 0;
    int64_t policy = 0;
  };
  struct PolicyEntry {
    uint64_t change = 0;
    double at_s = 0;
    int64_t policy = 0;
    std::string planner;
    double rate_mbps = 0;
    double bound_mbps = 0;
    std::optional<double> predicted_s;
    size_t trees = 0;
    std::string reason;
  };

  bool IsOfAnotherJob(const StatusView& status) const;
  void AddRound(const StatusView& status, double at_s, uint64_t change);
  void AddPolicy(const StatusView& status, double at_s, uint64_t change);

  uint64_t began_with_ = 0;  // the change at which what is kept began
  std::deque<RoundEntry> rounds_;
  std::deque<PolicyEntry> policies_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_JOB_HISTORY_H_
