#include "scheduler/policy/plan_computation.h"

#include <algorithm>

#include "topology/evaluation/policy_value.h"
#include "topology/fit/price_fit.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// Larger overlays keep the bound that their planner knows: what a tighter one takes would delay their policies by as
// much again as the plan.
constexpr size_t kMostNodesForTightestBound = 32;

// Of two plans so close to each other the one with the trees in use wins.
constexpr double kClose = 0.03;

bool IsClose(const Policy& refreshed, const Policy& planned) {
  if (planned.round_time > absl::ZeroDuration()) {
    return refreshed.round_time <= (1 + kClose) * planned.round_time;
  }
  return (1 + kClose) * refreshed.auxiliary_rate_bps >= planned.auxiliary_rate_bps;
}

}  // namespace

PlanComputation::PlanComputation(NetworkView view, std::vector<NodeId> members, PlannerConfig config,
                                 std::optional<Policy> in_use, std::optional<Policy> former)
    : view_(std::move(view)), members_(std::move(members)), config_(std::move(config)), former_(std::move(former)) {
  config_.unwanted = unwanted_.get();
  if (in_use.has_value()) in_use_ = InUse{*in_use, *in_use};
}

void PlanComputation::Run() {
  if (config_.IsUnwanted()) {
    policy_ = absl::CancelledError("this plan is not needed any more");
    return;
  }
  const absl::StatusOr<NetworkView> restricted = view_.Restrict(members_);
  if (!restricted.ok()) {
    policy_ = restricted.status();
    return;
  }
  policy_ = MakePolicy(*restricted, config_);
  if (!policy_.ok()) return;
  if (members_.size() <= kMostNodesForTightestBound && !config_.in_haste) {
    policy_->bound_bps = std::min(policy_->bound_bps, RateBoundBps(*restricted));
  }
  if (in_use_.has_value()) ValueInUse(*restricted);
  if (former_.has_value()) ValueAsPublished(*restricted, config_.tensors, *former_, config_.sent_part);
}

void PlanComputation::ValueInUse(const NetworkView& view) {
  ValueAsPublished(view, config_.tensors, in_use_->as_published, config_.sent_part);
  Policy& refreshed = in_use_->refreshed;
  refreshed.bound_bps = policy_->bound_bps;
  RefreshShares(config_, view, refreshed);
  if (IsClose(refreshed, *policy_) && !IsTooDear(refreshed, view)) policy_ = refreshed;
}

bool PlanComputation::IsTooDear(const Policy& refreshed, const NetworkView& view) const {
  if (!config_.budget_per_round.has_value() || config_.tensors.empty()) return false;
  const double planned = RoundPrice(*policy_, view, config_.tensors);
  const double most = (1 + kBudgetRounding) * std::max(*config_.budget_per_round, planned);
  return RoundPrice(refreshed, view, config_.tensors) > most;
}

int64_t PlanComputation::size_bytes() const {
  // A search from every node looks at every link once.
  return static_cast<int64_t>(members_.size() * (view_.links().size() + members_.size()) * sizeof(NetworkLink));
}

}  // namespace banyan
