// Whether rounds take as long as topology/evaluation/round_time.h predicts.
#include "topology/evaluation/round_time.h"

#include "gtest/gtest.h"
#include "sim/testing/sample_simulations.h"
#include "topology/overlay/overlay_network.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

struct Case {
  const char* planner;
  int64_t model_bytes;
  int64_t chunk_elements;
};

class RoundTimeTest : public testing::TestWithParam<Case> {};

TEST_P(RoundTimeTest, TheSimulatedRoundTakesAboutAsLong) {
  SimulationOptions options = Internet2Simulation(GetParam().model_bytes, 3);
  options.overlay.topology.planner = GetParam().planner;
  options.overlay.chunks.max_elements = GetParam().chunk_elements;
  options.overlay.multipath.enabled = false;
  options.overlay.awareness.enabled = false;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  const NetworkView view = MakeNetworkView(options.overlay);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(options.overlay, view);
  ASSERT_TRUE(config.ok()) << config.status();
  // As the scheduler plans when it learns of the model.
  const absl::StatusOr<Policy> first = MakePolicy(view, *config);
  ASSERT_TRUE(first.ok()) << first.status();
  config->tensors.assign(options.tensor_elements.begin(), options.tensor_elements.end());
  config->current_trees = first->trees;
  const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  const absl::Duration predicted = PredictRoundTime(*policy, view, config->tensors);
  // It leaves out acknowledgements and takes lost packets as their mean.
  EXPECT_GT(report->synchronisation_p50, 0.92 * predicted);
  // Of many plans for a small model the one with the best prediction is taken, so that it is rather too good: 1.11.
  EXPECT_LT(report->synchronisation_p50, 1.12 * predicted);
}

INSTANTIATE_TEST_SUITE_P(Cases, RoundTimeTest,
                         testing::Values(Case{"fapt", 1000000, 4096}, Case{"fapt", 1000000, 65536},
                                         Case{"fapt", 10000000, 16384}, Case{"fapt", 46000000, 65536},
                                         Case{"fapt", 244000000, 65536}, Case{"star", 1000000, 16384},
                                         Case{"star", 46000000, 65536}, Case{"mst", 1000000, 65536},
                                         Case{"mst", 46000000, 16384}, Case{"bkt", 1000000, 16384},
                                         Case{"bkt", 10000000, 262144}, Case{"packed", 1000000, 4096},
                                         Case{"packed", 10000000, 8192}, Case{"packed", 46000000, 8192}));

}  // namespace
}  // namespace banyan
