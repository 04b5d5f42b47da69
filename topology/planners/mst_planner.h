// A maximum-throughput spanning tree on one root: Prim's algorithm, each half by the throughput in its own direction
// (the topology of TSEngine, as NETSTORM compares with it). Stateless.
#ifndef BANYAN_TOPOLOGY_PLANNERS_MST_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNERS_MST_PLANNER_H_

#include "absl/status/statusor.h"
#include "topology/planner.h"

namespace banyan {

class MstPlanner : public Planner {
 public:
  absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const override;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_MST_PLANNER_H_
