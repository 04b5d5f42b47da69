// Planning as work for the compute pool, since a thousand nodes take seconds. Owned by the core or the driver, as the
// Computation interface says.
#ifndef BANYAN_SCHEDULER_PLAN_COMPUTATION_H_
#define BANYAN_SCHEDULER_PLAN_COMPUTATION_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/computation.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

class PlanComputation : public Computation {
 public:
  // Plans for these nodes of the view, and says what rate the policy of these nodes that is in use has there, if any.
  PlanComputation(NetworkView view, std::vector<NodeId> members, PlannerConfig config,
                  std::optional<Policy> in_use = std::nullopt);

  void Run() override;
  int64_t size_bytes() const override;

  // After Run: the policy without its version, epoch and key table, or the planner's error.
  absl::StatusOr<Policy> TakePolicy() { return std::move(policy_); }
  // After Run: RateOn (topology/policy_difference.h) of the policy in use; 0 without one.
  double rate_in_use_bps() const { return rate_in_use_bps_; }

 private:
  NetworkView view_;
  std::vector<NodeId> members_;
  PlannerConfig config_;
  std::optional<Policy> in_use_;
  absl::StatusOr<Policy> policy_;
  double rate_in_use_bps_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PLAN_COMPUTATION_H_
