// Every node sends to one hub and hears from it, as with a central parameter server. Stateless.
#ifndef BANYAN_TOPOLOGY_PLANNERS_STAR_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNERS_STAR_PLANNER_H_

#include "absl/status/statusor.h"
#include "topology/planner.h"

namespace banyan {

class StarPlanner : public Planner {
 public:
  absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const override;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_STAR_PLANNER_H_
