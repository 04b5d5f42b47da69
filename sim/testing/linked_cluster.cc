#include "sim/testing/linked_cluster.h"

#include "core/random.h"
#include "sim/sample_overlays.h"

namespace banyan {

ClusterOptions LinkedCluster(int nodes, double least_bps, double most_bps) {
  OverlayShape shape;
  shape.nodes = nodes;
  shape.links = nodes * (nodes - 1) / 2;
  shape.least_bps = least_bps;
  shape.most_bps = most_bps;
  Random random(1);
  ClusterOptions options;
  options.overlay = RandomOverlay(shape, &random);
  options.overlay.aggregation.op = AggregationOp::kSum;
  options.overlay.chunks.max_elements = 200;
  options.plan.tensors = {{"w", 9000, 0}, {"b", 1000, 0}};
  return options;
}

}  // namespace banyan
