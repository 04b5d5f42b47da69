#include "scheduler/plan_computation.h"

#include <algorithm>

#include "topology/packing/rate_bound.h"
#include "topology/policy_value.h"

namespace banyan {
namespace {

// Larger overlays keep the bound that their planner knows: what a tighter one takes would delay their policies by as
// much again as the plan.
constexpr size_t kMostNodesForTightestBound = 32;

}  // namespace

PlanComputation::PlanComputation(NetworkView view, std::vector<NodeId> members, PlannerConfig config,
                                 std::optional<Policy> in_use)
    : view_(std::move(view)), members_(std::move(members)), config_(std::move(config)), in_use_(std::move(in_use)) {}

void PlanComputation::Run() {
  const absl::StatusOr<NetworkView> restricted = view_.Restrict(members_);
  if (!restricted.ok()) {
    policy_ = restricted.status();
    return;
  }
  policy_ = MakePolicy(*restricted, config_);
  if (policy_.ok() && members_.size() <= kMostNodesForTightestBound) {
    policy_->bound_bps = std::min(policy_->bound_bps, RateBoundBps(*restricted));
  }
  if (in_use_.has_value()) ValueOn(*restricted, config_.tensor_elements, *in_use_);
}

int64_t PlanComputation::size_bytes() const {
  // A search from every node looks at every link once.
  return static_cast<int64_t>(members_.size() * (view_.links().size() + members_.size()) * sizeof(NetworkLink));
}

}  // namespace banyan
