#include "sim/testing/policy_waits.h"

#include <utility>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/sample_simulations.h"

namespace banyan {
namespace {

TEST(PolicyWaitsTest, NoRoundWaitsForTheSchedulerInTheSteadyState) {
  for (const absl::Duration lease : {absl::ZeroDuration(), absl::Minutes(2)}) {
    SimulationOptions options = Internet2Simulation(4000000, 110);
    options.overlay.policy.lease = lease;
    options.compute_time = absl::Milliseconds(100);
    ClusterOptions cluster_options = MakeClusterOptions(options);
    PolicyWaits waits(cluster_options.plan);
    cluster_options.listener = &waits;
    Cluster cluster(std::move(cluster_options));
    cluster.simulator()->network()->AddObserver(&waits);
    EXPECT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(1000))) << cluster.WhoWaits();
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_EQ(waits.RoundsFrom(Round(11)), 0u) << "of 100 with leases of " << lease;
  }
}

}  // namespace
}  // namespace banyan
