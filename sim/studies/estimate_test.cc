// What nodes learn of their links from training traffic, against what the links are.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/sample_simulations.h"

namespace banyan {
namespace {

using NodePair = std::pair<NodeId, NodeId>;

// The measurements of each link that reached the scheduler: the newest, and the rates of all backlogged ones.
class Estimates : public TrafficObserver {
 public:
  struct Estimate {
    Timestamp came;
    LinkMeasurement measurement;
  };

  void OnDelivered(const SentMessage& sent) override {
    const auto* report = std::get_if<NodeReport>(&sent.message);
    if (report == nullptr) return;
    for (const NodeReport::Link& link : report->links) {
      if (!link.measurement.has_value()) continue;
      newest[{sent.from, link.to}] = {sent.now, *link.measurement};
      if (link.measurement->is_backlogged) rates_bps[{sent.from, link.to}].push_back(link.measurement->rate_bps);
    }
  }

  std::map<NodePair, Estimate> newest;
  std::map<NodePair, std::vector<double>> rates_bps;
};

// The rates of links under the newest policy that its senders were told of, and how many policies there were.
class PlannedRates : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* published = std::get_if<PolicyPublished>(&sent.message);
    if (published == nullptr) return;
    versions.insert(published->slice.version);
    for (const NeighbourSlice& neighbour : published->slice.neighbours) {
      rates_bps[{sent.to, neighbour.node}] = neighbour.rate_bps;
    }
  }

  std::map<NodePair, double> rates_bps;
  std::set<PolicyVersion> versions;
};

// Estimated over true rate.
double RatioOf(const LinkMeasurement& measurement, const SimulatedLink& link, int64_t scale) {
  return measurement.rate_bps * static_cast<double>(scale) / link.rate_bps();
}

// Packed trees use every link and hardly an auxiliary path; those of FAPT leave links to these.
struct Case {
  const char* planner;
  bool has_auxiliary_paths;
  int least_measured;  // of 26 links
  int least_changed;   // of those that are measured, in the middle
};

class EstimateTest : public testing::TestWithParam<Case> {
 protected:
  static SimulationOptions MakeOptions() {
    SimulationOptions options = Internet2Simulation(120000000, 12);
    options.overlay.topology.planner = GetParam().planner;
    options.overlay.multipath.enabled = GetParam().has_auxiliary_paths;
    options.most_drift_ppm = 200;
    return options;
  }
};

// Clocks of simulated processes differ by days and drift by up to 200 ppm.
TEST_P(EstimateTest, AreWithinATenthOfTheLinksRates) {
  SimulationOptions options = MakeOptions();
  Cluster cluster(MakeClusterOptions(options));
  Estimates estimates;
  cluster.simulator()->network()->AddObserver(&estimates);
  ASSERT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(1000))) << cluster.WhoWaits();
  int measured = 0;
  int reports = 0;
  int off = 0;
  for (const auto& [ends, link] : cluster.simulator()->network()->links()) {
    // Some links carry nothing, or never enough at once to be busy.
    std::vector<double> ratios = estimates.rates_bps[ends];
    if (ratios.empty()) continue;
    for (double& ratio : ratios) {
      ratio *= static_cast<double>(cluster.scale()) / link.rate_bps();
      off += std::abs(ratio - 1) > 0.1 ? 1 : 0;
      ++reports;
    }
    std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
    EXPECT_NEAR(ratios[ratios.size() / 2], 1, 0.1) << ends.first << " to " << ends.second << " of " << link.rate_bps();
    ++measured;
  }
  // Lost packets hold chunks back, which then come in a bunch; the median of a few samples does not always help.
  std::cout << off << " of " << reports << " rates are off by more than a tenth\n";
  EXPECT_LE(off, 0.005 * reports);
  EXPECT_GE(measured, GetParam().least_measured);
}

// Three links of ten change in the middle; a change must be known one update and one round later.
TEST_P(EstimateTest, FollowALinkThatChanges) {
  SimulationOptions options = MakeOptions();
  options.link_redraw = LinkRedraw{absl::Seconds(60), 20e6, 155e6, 0.3, 5};
  Cluster cluster(MakeClusterOptions(options));
  Estimates estimates;
  cluster.simulator()->network()->AddObserver(&estimates);
  Simulator* simulator = cluster.simulator();
  simulator->RunUntil([] { return false; }, Timestamp() + absl::Seconds(59));
  std::map<NodePair, double> before;
  for (const auto& [ends, link] : simulator->network()->links()) before[ends] = link.rate_bps();
  simulator->RunUntil([] { return false; }, Timestamp() + absl::Seconds(61));
  const uint64_t rounds_done = cluster.rounds_done();
  // The round that runs, and one whole round.
  ASSERT_TRUE(
      simulator->RunUntil([&] { return cluster.rounds_done() >= rounds_done + 2; }, Timestamp() + absl::Seconds(119)));
  const Timestamp limit =
      std::min(simulator->now() + options.overlay.topology.update_interval, Timestamp() + absl::Seconds(119));
  simulator->RunUntil([] { return false; }, limit);
  int changed = 0;
  for (const auto& [ends, link] : simulator->network()->links()) {
    const auto found = estimates.newest.find(ends);
    if (before[ends] == link.rate_bps() || found == estimates.newest.end()) continue;
    ++changed;
    EXPECT_NEAR(RatioOf(found->second.measurement, link, cluster.scale()), 1, 0.1)
        << ends.first << " to " << ends.second << " from " << before[ends] << " to " << link.rate_bps();
  }
  EXPECT_GE(changed, GetParam().least_changed);
}

struct Planned {
  size_t policies = 0;
  // Of measured links: the median of the rates in the newest plan over their true ones.
  double ratio = 0;
};

// All links change after a minute; the trees follow on what `estimator` makes of chunks of at least so many bytes.
Planned PlanOn(RateEstimator estimator, int64_t probe_chunk_bytes) {
  SimulationOptions options = Internet2Simulation(46000000, 1000);
  options.overlay.topology.planner = "fapt";
  options.overlay.multipath.enabled = false;
  options.overlay.awareness.estimator = estimator;
  options.overlay.awareness.probe_chunk_bytes = probe_chunk_bytes;
  options.link_redraw = LinkRedraw{absl::Seconds(60), 20e6, 155e6, 1, 5};
  Cluster cluster(MakeClusterOptions(options));
  Estimates estimates;
  PlannedRates planned;
  cluster.simulator()->network()->AddObserver(&estimates);
  cluster.simulator()->network()->AddObserver(&planned);
  cluster.simulator()->RunUntil([] { return false; }, Timestamp() + absl::Seconds(119));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  std::vector<double> ratios;
  for (const auto& [ends, link] : cluster.simulator()->network()->links()) {
    if (!estimates.newest.contains(ends)) continue;
    ratios.push_back(planned.rates_bps.at(ends) * static_cast<double>(cluster.scale()) / link.rate_bps());
  }
  if (ratios.empty()) return {planned.versions.size(), 0};
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
  return {planned.versions.size(), ratios[ratios.size() / 2]};
}

constexpr int64_t kChunkBytes = 65536 * 4;

TEST(EstimatorTest, PlansRestOnTheEstimateThatIsAskedFor) {
  const Planned by_delivery = PlanOn(RateEstimator::kDelivery, 40000);
  EXPECT_GE(by_delivery.policies, 2u);
  EXPECT_NEAR(by_delivery.ratio, 1, 0.1);
  // Several chunks are on their way at a time.
  const Planned by_delay = PlanOn(RateEstimator::kOneWayDelay, 40000);
  EXPECT_GE(by_delay.policies, 2u);
  EXPECT_LT(by_delay.ratio, 0.6);
  EXPECT_GT(by_delay.ratio, 0.05);
}

TEST(EstimatorTest, Eq14LearnsNothingFromChunksBelowTheProbesSize) {
  const Planned planned = PlanOn(RateEstimator::kOneWayDelay, kChunkBytes + 1);
  EXPECT_EQ(planned.policies, 1u);
  EXPECT_EQ(planned.ratio, 0);
}

INSTANTIATE_TEST_SUITE_P(Planners, EstimateTest,
                         testing::Values(Case{"packed", false, 22, 7}, Case{"packed", true, 22, 7},
                                         Case{"fapt", false, 18, 5}, Case{"fapt", true, 22, 7}));

}  // namespace
}  // namespace banyan
