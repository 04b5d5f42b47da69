// Planning as work for the compute pool, since a thousand nodes take seconds. Owned by the core or the driver, as the
// Computation interface says.
#ifndef BANYAN_SCHEDULER_POLICY_PLAN_COMPUTATION_H_
#define BANYAN_SCHEDULER_POLICY_PLAN_COMPUTATION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "protocol/computation.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

class PlanComputation : public Computation {
 public:
  // The policy in use, valued on the view.
  struct InUse {
    Policy as_published;  // with the shares and rates that nodes know (ValueAsPublished in
                          // topology/evaluation/policy_value.h)
    Policy refreshed;     // with the shares of trees and auxiliary paths that suit the view
  };

  // Plans for the nodes `members` of `view`. Values on it the policy that is in use among them, and the former one that
  // may come back, if there are any.
  PlanComputation(NetworkView view, std::vector<NodeId> members, PlannerConfig config,
                  std::optional<Policy> in_use = std::nullopt, std::optional<Policy> former = std::nullopt);

  // Ends soon, with CANCELLED, after the flag of Unwanted has become true, also if it has not begun.
  void Run() override;
  int64_t size_bytes() const override;

  // Returns a flag that is to become true when nobody wants the plan any more.
  std::shared_ptr<std::atomic<bool>> Unwanted() const { return unwanted_; }
  // After Run: the planned policy, or the planner's error. It lacks its version, epoch and key table. Up to 32 nodes,
  // unless it was made in haste, it has the tightest bound (RateBoundBps). It is the one in use, refreshed, if the
  // planner's is hardly better.
  absl::StatusOr<Policy> TakePolicy() { return std::move(policy_); }
  // After Run that gave a policy. REQUIRES: there is one in use.
  InUse TakeInUse() { return *std::move(in_use_); }
  // After Run that gave a policy: how long a round of the former one takes on the view, as nodes knew it. REQUIRES:
  // there is a former one.
  absl::Duration former_round_time() const { return former_->round_time; }

 private:
  void ValueInUse(const NetworkView& view);
  // Tells if a round of the policy in use costs more than the budget allows, or than the plan does.
  bool IsTooDear(const Policy& refreshed, const NetworkView& view) const;

  NetworkView view_;
  std::vector<NodeId> members_;
  const std::shared_ptr<std::atomic<bool>> unwanted_ = std::make_shared<std::atomic<bool>>(false);
  PlannerConfig config_;
  std::optional<InUse> in_use_;
  std::optional<Policy> former_;
  absl::StatusOr<Policy> policy_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_PLAN_COMPUTATION_H_
