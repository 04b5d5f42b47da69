// Low-bit rounds in simulated time: exact over every planner, routes that follow the training, and what they save.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

constexpr uint64_t kRounds = 20;

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Five nodes, one of them with three workers, that warm up for some rounds before all tensors go low-bit.
ClusterOptions FiveNodes(const std::string& planner, int64_t warmup_steps, LowBitFamily family) {
  ClusterOptions options = LinkedCluster(5, 2e6, 2e6);
  options.overlay.aggregation.op = AggregationOp::kMean;
  options.overlay.topology.planner = planner;
  options.overlay.nodes[2].workers = 3;
  options.plan.rounds = kRounds;
  options.plan.compute_time = absl::Milliseconds(50);
  OperatingProfile profile;
  profile.rules.family = family;
  profile.scope = PrecisionScope::kModel;
  profile.admission.warmup_steps = warmup_steps;
  profile.detector = {0.01, 0.5, 1};
  profile.recovery = {4, 2, 4, 2};
  std::vector<TensorBinding> tensors;
  for (const TrainingPlan::Tensor& tensor : options.plan.tensors) {
    tensors.push_back({tensor.name, tensor.elements, {{0, tensor.elements, TensorRole::kEncoder, true, {}, ""}}});
  }
  options.precision = PrecisionFiles{profile, PrecisionBinding("all", {}, std::move(tensors))};
  options.plan.loss = [](Round round) { return 1 / static_cast<double>(round.value()); };
  return options;
}

void Train(Cluster& cluster) {
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(PrecisionSimulation, EveryPlannersTreesDecideAsACountInOnePlaceDoes) {
  for (const char* planner : {"fapt", "packed", "star"}) {
    for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
      const ClusterOptions options = FiveNodes(planner, 3, family);
      Cluster cluster(options);
      Train(cluster);
      const auto tensors = static_cast<int64_t>(options.plan.tensors.size());
      EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), tensors * (static_cast<int64_t>(kRounds) - 10));
      EXPECT_GE(cluster.precision()->rounds(PrecisionRoute::kPlain), tensors * 3) << "the warm-up";
    }
  }
}

TEST(PrecisionSimulation, ALossThatRisesFallsBackAndComesBack) {
  ClusterOptions options = FiveNodes("fapt", 3, LowBitFamily::kBinary);
  options.plan.loss = [](Round round) { return round == Round(8) ? 5.0 : 1 / static_cast<double>(round.value()); };
  Cluster cluster(options);
  Train(cluster);
  const auto tensors = static_cast<int64_t>(options.plan.tensors.size());
  const int64_t fallback = cluster.precision()->rounds(PrecisionRoute::kFallback);
  EXPECT_GE(fallback, tensors * 4);
  EXPECT_LE(fallback, tensors * 12);
  EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), tensors * 5);
}

}  // namespace
}  // namespace banyan
