// Trees that the user wrote down, checked, closed around nodes that are away, with routes where a link is missing.
// Stateless.
#ifndef BANYAN_TOPOLOGY_PLANNERS_CUSTOM_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNERS_CUSTOM_PLANNER_H_

#include "absl/status/statusor.h"
#include "topology/planner.h"

namespace banyan {

class CustomPlanner : public Planner {
 public:
  absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const override;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_CUSTOM_PLANNER_H_
