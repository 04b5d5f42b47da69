// How the packed planner follows changing links on noisy measurements, against an oracle that knows every rate at once.
#include <iostream>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/internet2_simulation.h"
#include "sim/link_schedule.h"
#include "sim/policy_count.h"

namespace banyan {
namespace {

constexpr absl::Duration kPeriod = absl::Minutes(3);
constexpr int kPeriods = 6;
constexpr int64_t kModelBytes = 46 * 1000 * 1000;
constexpr uint64_t kOracleRounds = 3;

class StabilityTest : public testing::TestWithParam<uint64_t> {
 protected:
  SimulationOptions MakeOptions(uint64_t rounds) const {
    SimulationOptions options = Internet2Simulation(kModelBytes, rounds);
    options.seed = GetParam();
    return options;
  }

  // The time of a round when the rates stay as the cluster's links have them now and are known from the start.
  double OracleRoundSeconds(Cluster* cluster) const {
    SimulationOptions options = MakeOptions(kOracleRounds);
    const SimulatedNetwork& network = *cluster->simulator()->network();
    std::map<std::string, NodeId> ids;
    for (const NodeConfig& node : options.overlay.nodes) ids.emplace(node.name, NodeId(ids.size() + 1));
    for (LinkConfig& link : *options.overlay.links) {
      link.a_to_b_bps = network.links().at({ids.at(link.a), ids.at(link.b)}).rate_bps();
      link.b_to_a_bps = network.links().at({ids.at(link.b), ids.at(link.a)}).rate_bps();
    }
    const absl::StatusOr<SimulationReport> report = Simulate(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? absl::ToDoubleSeconds(report->synchronisation_p50) : 1;
  }
};

TEST_P(StabilityTest, RoundsTakeLittleLongerThanAnOraclesAndPoliciesAreFew) {
  SimulationOptions options = MakeOptions(1000000);  // more rounds than there is time for
  options.link_redraw = LinkRedraw{kPeriod, 20e6, 155e6, 1, GetParam()};
  options.measurement_noise = 0.1;
  Cluster cluster(MakeClusterOptions(options));
  PolicyCount policies;
  cluster.simulator()->network()->AddObserver(&policies);
  double oracle_rounds = 0;
  for (int period = 1; period <= kPeriods; ++period) {
    // The next rates come at the end of the period.
    cluster.simulator()->RunUntil([] { return false; }, Timestamp() + (period * kPeriod - absl::Nanoseconds(1)));
    oracle_rounds += absl::ToDoubleSeconds(kPeriod) / OracleRoundSeconds(&cluster);
  }
  std::cout << "rounds take " << oracle_rounds / static_cast<double>(cluster.rounds_done()) << " of the oracle's time, "
            << policies.count() << " policies\n";
  EXPECT_LE(oracle_rounds, 1.15 * static_cast<double>(cluster.rounds_done()));
  // The first policy, one when the model becomes known, one for each change of the rates, and two.
  EXPECT_LE(policies.count(), 1 + 1 + (kPeriods - 1) + 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StabilityTest, testing::Values(1, 5));

}  // namespace
}  // namespace banyan
