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
#include <vector>

#include "absl/time/time.h"
#include "proto/status.h"
#include "runtime/metrics/metrics_page.h"

namespace banyan {

// What a page is told of rounds and policies.
struct JobNews {
  // Nodes report once a heartbeat, so that rounds are passed over when they are short.
  struct Round {
    uint64_t change = 0;
    double at_s = 0;  // since 1970
    uint64_t round = 0;
    double seconds = 0;  // of its synchronisation, of the slowest node
    std::optional<double> predicted_seconds;
    std::optional<double> loss;  // mean over nodes that tell one
    uint64_t sent_bytes = 0;     // so far over all links
    uint64_t policy = 0;
  };
  struct Policy {
    uint64_t change = 0;
    double at_s = 0;
    uint64_t policy = 0;
    std::string planner;
    double rate_mbps = 0;
    double bound_mbps = 0;
    std::optional<double> predicted_seconds;
    uint64_t trees = 0;
    std::string reason;
  };
  bool is_all = false;  // that is kept, in place of what was told before
  std::vector<Round> rounds;
  std::vector<Policy> policies;
};

template <typename Visitor>
void Fields(Visitor& v, JobNews::Round& m) {
  v(1, "at_s", m.at_s);
  v(2, "round", m.round);
  v(3, "seconds", m.seconds);
  v(4, "predicted_seconds", m.predicted_seconds);
  v(5, "loss", m.loss);
  v(6, "bytes", m.sent_bytes);
  v(7, "policy", m.policy);
}

template <typename Visitor>
void Fields(Visitor& v, JobNews::Policy& m) {
  v(1, "at_s", m.at_s);
  v(2, "policy", m.policy);
  v(3, "planner", m.planner);
  v(4, "rate_mbps", m.rate_mbps);
  v(5, "bound_mbps", m.bound_mbps);
  v(6, "predicted_seconds", m.predicted_seconds);
  v(7, "trees", m.trees);
  v(8, "reason", m.reason);
}

template <typename Visitor>
void Fields(Visitor& v, JobNews& m) {
  v(1, "all", m.is_all);
  v(2, "rounds", m.rounds);
  v(3, "policies", m.policies);
}

class JobHistory {
 public:
  static constexpr size_t kMostRounds = 600;
  static constexpr size_t kMostPolicies = 50;

  // Takes what is new in `status`, which came at `now`. `change` tells this status from others; it rises.
  void Add(const JobStatus& status, absl::Time now, uint64_t change);

  // Returns what came after `change`, which is JobNews, as JSON, or an empty text when nothing did.
  std::string JsonSince(uint64_t change) const;
  // Of all rounds since this object was made; those that no status told of count as the next that one did.
  const Histogram& round_times() const { return round_times_; }

 private:
  bool IsOfAnotherJob(const JobStatus& status) const;
  void AddRound(const JobStatus& status, double at_s, uint64_t change);
  void AddPolicy(const JobStatus& status, double at_s, uint64_t change);
  // Of the policy that governs the round, as far as the statuses tell.
  std::optional<double> PredictionOf(uint64_t round) const;

  std::optional<double> prediction_;         // of the policy in use
  std::optional<double> former_prediction_;  // of the one before
  uint64_t last_of_former_ = 0;              // its last round
  uint64_t began_with_ = 0;                  // the change at which what is kept began
  std::deque<JobNews::Round> rounds_;
  std::deque<JobNews::Policy> policies_;
  Histogram round_times_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_JOB_HISTORY_H_
