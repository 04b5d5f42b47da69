#include "sim/testing/linked_cluster.h"

#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "sim/overlays.h"

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

namespace {

std::unique_ptr<ContributorFields> FieldsOf(const ClusterOptions& options, std::set<size_t> spread) {
  std::vector<WorkerName> workers;
  for (uint32_t node = 1; node <= options.overlay.nodes.size(); ++node) {
    const auto count = static_cast<uint32_t>(options.overlay.nodes[node - 1].workers);
    for (uint32_t worker = 0; worker < count; ++worker) workers.push_back({NodeId(node), WorkerId(worker)});
  }
  return std::make_unique<ContributorFields>(std::move(workers), std::move(spread), options.seed);
}

ClusterOptions WithFields(ClusterOptions options, ContributorFields* fields) {
  options.membership_changes = true;
  options.fields = fields;
  options.plan.source = fields;
  options.plan.may_begin_late = true;
  return options;
}

}  // namespace

ChangingCluster::ChangingCluster(ClusterOptions options, std::set<size_t> spread)
    : fields_(FieldsOf(options, std::move(spread))), cluster_(WithFields(std::move(options), fields_.get())) {}

}  // namespace banyan
