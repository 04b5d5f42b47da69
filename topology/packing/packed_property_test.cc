// What packing promises, on a thousand random overlays.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/evaluation/policy_value.h"
#include "topology/packing/packed_planner.h"
#include "topology/packing/price_bound.h"
#include "topology/packing/tree_packing.h"
#include "topology/planners/planners.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// Instrumented code is several times slower, and what it looks for shows on fewer overlays.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOverlays = 150;
#else
constexpr int kOverlays = 1000;
#endif
constexpr double kRounding = 1e-6;

// 4 to 12 nodes, a link or none between any two, every direction at its own rate, caps on some nodes of every third,
// and links that share something in every second.
NetworkView RandomOverlay(Random& random, int number) {
  const int nodes = 4 + static_cast<int>(random.Below(9));
  const int degree = 2 + static_cast<int>(random.Below(3 + static_cast<uint64_t>(nodes) / 3));
  const NetworkView view = RandomNetwork(nodes, degree, random.Next());
  std::vector<NetworkNode> network_nodes(view.nodes().begin(), view.nodes().end());
  for (NetworkNode& node : network_nodes) {
    if (number % 3 != 0) continue;
    if (random.Chance(0.4)) node.up_cap_bps = 1e6 * static_cast<double>(random.Between(40, 300));
    if (random.Chance(0.4)) node.down_cap_bps = 1e6 * static_cast<double>(random.Between(40, 300));
  }
  std::vector<SharedCapacity> shared(number % 2 == 0 ? 0 : 1 + random.Below(3));
  for (SharedCapacity& capacity : shared) {
    capacity.capacity_bps = 1e6 * static_cast<double>(random.Between(20, 200));
    for (const NetworkLink& link : view.links()) {
      if (random.Chance(0.2)) capacity.links.emplace_back(link.from, link.to);
    }
  }
  return *NetworkView::Create(network_nodes, {view.links().begin(), view.links().end()}, shared);
}

// What FAPT's trees reach with the best shares.
double BalancedRateBps(Policy policy, const NetworkView& view) {
  const std::vector<double> shares = BalancedShares(policy, view);
  double sum = 0;
  for (const double share : shares) sum += share;
  for (size_t i = 0; i < shares.size(); ++i) policy.trees[i].share = shares[i] / sum;
  return PlanRateBps(policy, view);
}

void ExpectWithinCapacity(const Policy& policy, const NetworkView& view) {
  const std::vector<double> loads = LinkLoads(policy, view);
  std::vector<double> sent(view.nodes().size(), 0);
  std::vector<double> received(view.nodes().size(), 0);
  for (size_t i = 0; i < loads.size(); ++i) {
    const NetworkLink& link = view.links()[i];
    const double load_bps = loads[i] * policy.rate_bps;
    EXPECT_LE(load_bps, link.throughput_bps * (1 + kRounding));
    sent[*view.IndexOf(link.from)] += load_bps;
    received[*view.IndexOf(link.to)] += load_bps;
  }
  const std::vector<double> shared = SharedLoadsOf(loads, view);
  for (size_t i = 0; i < shared.size(); ++i) {
    EXPECT_LE(shared[i] * policy.rate_bps, view.shared()[i].capacity_bps * (1 + kRounding));
  }
  for (size_t i = 0; i < view.nodes().size(); ++i) {
    const NetworkNode& node = view.nodes()[i];
    EXPECT_LE(sent[i], node.up_cap_bps.value_or(1e30) * (1 + kRounding));
    EXPECT_LE(received[i], node.down_cap_bps.value_or(1e30) * (1 + kRounding));
  }
}

// The bound that a packing's prices prove, worked out anew.
double ProvenBps(const NetworkView& view) {
  PackingOptions options{
      .roots = {}, .seeds = {}, .candidates = {}, .accuracy = 1e-3, .work = PackingWork(view.nodes().size())};
  for (size_t root = 0; root < view.nodes().size(); ++root) options.roots.push_back(root);
  const CapacityGraph graph(view);
  const TreePacking packing = PackTrees(graph, options);
  const double proven_bps = PriceBoundBps(view, CertificateOf(graph, packing));
  EXPECT_NEAR(proven_bps, packing.bound_bps, kRounding * proven_bps);
  return proven_bps;
}

TEST(PackedPropertyTest, HoldsOnRandomOverlays) {
  Random random(20);
  for (int i = 0; i < kOverlays && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const NetworkView view = RandomOverlay(random, i);
    const absl::StatusOr<Policy> packed = PlanPacked(view, {});
    const absl::StatusOr<Policy> fapt = PlanFapt(view, {});
    ASSERT_TRUE(packed.ok() && fapt.ok()) << packed.status() << fapt.status();
    EXPECT_TRUE(ValidatePolicy(*packed, view).ok()) << ValidatePolicy(*packed, view);
    ExpectWithinCapacity(*packed, view);
    EXPECT_GE(packed->rate_bps, (1 - kRounding) * fapt->rate_bps);
    EXPECT_GE(packed->rate_bps, (1 - kRounding) * BalancedRateBps(*fapt, view));
    EXPECT_GE(packed->rate_bps, 0.97 * packed->bound_bps);
    if (i % 8 == 0) {
      EXPECT_LE(packed->rate_bps, (1 + kRounding) * ProvenBps(view));
    }
  }
}

}  // namespace
}  // namespace banyan
