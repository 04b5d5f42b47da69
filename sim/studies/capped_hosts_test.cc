// Rounds of hosts that can send and receive less than their links together.
#include <algorithm>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kCapBps = 5e9;
constexpr int64_t kModelBytes = 1'000'000'000;

// Regions far apart whose links have 0.5 to 30 Gbit/s each.
SimulationOptions CappedRegions(bool uses_auxiliary_paths) {
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay("deploy/topologies/cloud9.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  SimulationOptions options;
  options.overlay = *std::move(overlay);
  for (NodeConfig& node : options.overlay.nodes) node.up_cap_bps = node.down_cap_bps = kCapBps;
  options.overlay.multipath.enabled = uses_auxiliary_paths;
  options.tensor_elements = {kModelBytes / 4};
  options.rounds = 4;
  return options;
}

absl::Duration SlowestRound(const SimulationReport& report) {
  absl::Duration slowest;
  for (const SimulationReport::RoundReport& round : report.rounds) slowest = std::max(slowest, round.synchronisation);
  return slowest;
}

TEST(CappedHostsTest, EachRoundComesNearWhatTheCapsAllowWithAndWithoutAuxiliaryPaths) {
  // Each of nine hosts sends 16 ninths of the model at least.
  const absl::Duration bound = absl::Seconds(kModelBytes * 8 * (16.0 / 9) / kCapBps);
  for (const bool uses_auxiliary_paths : {false, true}) {
    const absl::StatusOr<SimulationReport> report = Simulate(CappedRegions(uses_auxiliary_paths));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->replicas_identical);
    EXPECT_GT(SlowestRound(*report), bound);
    // Half a second is what chunks are under way over such hops, up and down a tree.
    EXPECT_LT(SlowestRound(*report), 1.2 * bound + absl::Seconds(0.5)) << "auxiliary paths: " << uses_auxiliary_paths;
  }
}

}  // namespace
}  // namespace banyan
