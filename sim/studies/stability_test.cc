// How the packed planner follows changing links on noisy measurements, against an oracle that knows every rate at once.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/link_schedule.h"
#include "sim/policy_count.h"
#include "sim/simulation.h"
#include "topology/overlay_yaml.h"

namespace banyan {
namespace {

constexpr absl::Duration kPeriod = absl::Minutes(3);
constexpr int kPeriods = 6;
constexpr int64_t kModelElements = 46 * 1000 * 1000 / 4;
constexpr uint64_t kOracleRounds = 3;

class StabilityTest : public testing::TestWithParam<uint64_t> {
 protected:
  SimulationOptions MakeOptions() const {
    SimulationOptions options;
    const absl::StatusOr<OverlayConfig> overlay = LoadOverlay("deploy/topologies/internet2.yaml");
    EXPECT_TRUE(overlay.ok()) << overlay.status();
    options.overlay = *overlay;
    options.overlay.topology.planner = "packed";
    options.tensor_elements = {kModelElements};
    options.seed = GetParam();
    return options;
  }

  LinkRedraw Redraw() const { return {kPeriod, 20e6, 155e6, 1, GetParam()}; }

  // The overlay as it is once the rates have been drawn so many times.
  OverlayConfig DrawnOverlay(uint64_t redraws) const {
    OverlayConfig overlay = MakeOptions().overlay;
    if (redraws == 0) return overlay;
    std::map<std::pair<std::string, std::string>, double*> rates;
    for (LinkConfig& link : *overlay.links) {
      rates[{link.a, link.b}] = &link.a_to_b_bps;
      rates[{link.b, link.a}] = &link.b_to_a_bps;
    }
    std::map<NodeId, std::string> names;
    for (uint32_t i = 0; i < overlay.nodes.size(); ++i) names[NodeId(i + 1)] = overlay.nodes[i].name;
    // In the order of ids, as the simulator has them.
    std::vector<std::pair<NodeId, NodeId>> ends;
    for (const auto& [from, from_name] : names) {
      for (const auto& [to, to_name] : names) {
        if (rates.count({from_name, to_name}) > 0) ends.push_back({from, to});
      }
    }
    for (const LinkChange& change : DrawLinkChanges(Redraw(), redraws, ends)) {
      *rates.at({names.at(change.from), names.at(change.to)}) = change.rate_bps;
    }
    return overlay;
  }

  // The time of a round on a network that stays as it is and is known from the start.
  double OracleRoundSeconds(uint64_t redraws) const {
    SimulationOptions options = MakeOptions();
    options.overlay = DrawnOverlay(redraws);
    options.rounds = kOracleRounds;
    const absl::StatusOr<SimulationReport> report = Simulate(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? absl::ToDoubleSeconds(report->synchronisation_p50) : 1;
  }
};

TEST_P(StabilityTest, RoundsTakeLittleLongerThanAnOraclesAndPoliciesAreFew) {
  SimulationOptions options = MakeOptions();
  options.link_redraw = Redraw();
  options.measurement_noise = 0.1;
  options.rounds = 1000000;  // more than there is time for
  Cluster cluster(MakeClusterOptions(options));
  PolicyCount policies;
  cluster.simulator()->network()->AddObserver(&policies);
  cluster.simulator()->RunUntil([] { return false; }, Timestamp() + kPeriods * kPeriod);
  double oracle_rounds = 0;
  for (int redraws = 0; redraws < kPeriods; ++redraws) {
    oracle_rounds += absl::ToDoubleSeconds(kPeriod) / OracleRoundSeconds(redraws);
  }
  EXPECT_LE(oracle_rounds, 1.15 * static_cast<double>(cluster.rounds_done()));
  // The first policy, one for each change, and two.
  EXPECT_LE(policies.count(), 1 + (kPeriods - 1) + 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StabilityTest, testing::Values(1, 2));

}  // namespace
}  // namespace banyan
