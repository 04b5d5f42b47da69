#include "scheduler/plan_computation.h"

namespace banyan {

PlanComputation::PlanComputation(NetworkView view, std::vector<NodeId> members, PlannerConfig config)
    : view_(std::move(view)), members_(std::move(members)), config_(std::move(config)) {}

void PlanComputation::Run() {
  const absl::StatusOr<NetworkView> restricted = view_.Restrict(members_);
  if (!restricted.ok()) {
    policy_ = restricted.status();
    return;
  }
  policy_ = MakePolicy(*restricted, config_);
}

int64_t PlanComputation::size_bytes() const {
  // A search from every node looks at every link once.
  return static_cast<int64_t>(members_.size() * (view_.links().size() + members_.size()) * sizeof(NetworkLink));
}

}  // namespace banyan
