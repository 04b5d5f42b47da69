// A balanced tree in which each inner node has `arity` children, in order of NodeId after the root: it looks at no
// rates (the topology of MLNet, as NETSTORM compares with it). Stateless.
#ifndef BANYAN_TOPOLOGY_PLANNERS_BKT_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNERS_BKT_PLANNER_H_

#include "absl/status/statusor.h"
#include "topology/planner.h"

namespace banyan {

class BktPlanner : public Planner {
 public:
  absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const override;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_BKT_PLANNER_H_
