// Fastest aggregation path trees, one for each of the best roots (NETSTORM, Definitions 2 and 3, Algorithms 1 and 2).
// Other roots are ordinary nodes of each tree. Stateless.
#ifndef BANYAN_TOPOLOGY_PLANNERS_FAPT_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNERS_FAPT_PLANNER_H_

#include "absl/status/statusor.h"
#include "topology/planner.h"

namespace banyan {

class FaptPlanner : public Planner {
 public:
  absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const override;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_FAPT_PLANNER_H_
