// Caps of hosts that nobody told of are found by what links carry, and none is where there are none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/policy/traffic_log.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/testing/sample_simulations.h"
#include "topology/inference/sharing_inference.h"
#include "topology/overlay/overlay_network.h"

namespace banyan {
namespace {

constexpr uint64_t kManyRounds = 100000;

bool IsLong() { return std::getenv("BANYAN_LONG") != nullptr; }

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// A job on a network of which it is told less, and what is inferred from the reports that come to the scheduler.
class HiddenJob : private TrafficObserver {
 public:
  explicit HiddenJob(const HiddenCapacities& hidden)
      : overlay_(hidden.options.overlay),
        cluster_(MakeClusterOptions(hidden)),
        view_(MakeNetworkView(ScaleOverlay(hidden.told, cluster_.scale()))),
        traffic_(hidden.told.membership.heartbeat),
        sharing_(view_) {
    cluster_.simulator()->network()->AddObserver(this);
  }

  void RunUntil(double seconds) {
    cluster_.simulator()->RunUntil([] { return false; }, At(seconds));
  }
  const std::vector<SharedGroup>& groups() const { return sharing_.groups(); }
  double CapacityBps(const SharedGroup& group) const {
    return group.capacity_bps * static_cast<double>(cluster_.scale());
  }
  // The true cap over the inferred one; 0 where there is no cap.
  double RatioOf(const SharedGroup& group) const {
    const NodeConfig& node = overlay_.nodes[group.host.value() - 1];
    const bool is_sent = group.kind == SharedGroup::Kind::kSent;
    return CapacityBps(group) / (is_sent ? node.up_cap_bps : node.down_cap_bps).value_or(INFINITY);
  }
  // Every inferred cap is a true one, within this part of it.
  bool IsRight(double tolerance) const {
    return std::all_of(groups().begin(), groups().end(),
                       [&](const SharedGroup& group) { return std::abs(RatioOf(group) - 1) <= tolerance; });
  }
  std::string Text() const {
    std::string text;
    for (const SharedGroup& group : groups()) {
      absl::StrAppend(&text, group.kind == SharedGroup::Kind::kSent ? " sent " : " received ", group.host.value(), ": ",
                      std::round(CapacityBps(group) / 1e6), " (", RatioOf(group), ")");
    }
    return text;
  }
  Cluster& cluster() { return cluster_; }

 private:
  void OnDelivered(const SentMessage& sent) override {
    const auto* report = std::get_if<NodeReport>(&sent.message);
    if (report == nullptr) return;
    traffic_.Accept(sent.now, sent.from, report->links, view_);
    while (const std::optional<std::vector<LinkTraffic>> interval = traffic_.Next(sent.now)) sharing_.Add(*interval);
  }

  const OverlayConfig overlay_;
  Cluster cluster_;
  const NetworkView view_;
  TrafficLog traffic_;
  SharingInference sharing_;
};

TEST(InferenceTest, AccessLinksOfAStarAreFound) {
  constexpr size_t kLeastFound = 3;
  const uint64_t seeds = IsLong() ? 20 : 1;
  uint64_t right = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    HiddenJob job(StarOfAccessLinks(seed, kManyRounds));
    job.RunUntil(IsLong() ? 110 : 80);
    const bool is_right = job.groups().size() >= kLeastFound && job.IsRight(0.2);
    std::cout << "seed " << seed << (is_right ? ":" : " is wrong:") << job.Text() << "\n";
    right += is_right ? 1 : 0;
  }
  EXPECT_GE(right + seeds / 20, seeds);
}

TEST(InferenceTest, NothingIsInventedWhereNothingIsShared) {
  if (!IsLong()) GTEST_SKIP() << "long";
  constexpr uint64_t kSeeds = 20;
  uint64_t invented = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    HiddenJob job(NothingHidden(seed, kManyRounds));
    job.RunUntil(45);
    if (!job.groups().empty()) std::cout << "seed " << seed << ":" << job.Text() << "\n";
    invented += job.groups().empty() ? 0 : 1;
  }
  EXPECT_LE(invented, kSeeds / 20);
}

TEST(InferenceTest, HostsOfCloudRegionsAreFound) {
  if (!IsLong()) GTEST_SKIP() << "long";
  HiddenJob job(CloudWithHiddenCaps(1, kManyRounds));
  job.RunUntil(80);
  std::cout << job.Text() << "\n";
  EXPECT_GE(job.groups().size(), 2u);
  EXPECT_TRUE(job.IsRight(0.1));
}

TEST(InferenceTest, ACapThatChangesIsNoticedWithinTwoUpdates) {
  if (!IsLong()) GTEST_SKIP() << "long";
  const HiddenCapacities hidden = StarOfAccessLinks(1, kManyRounds);
  HiddenJob job(hidden);
  job.RunUntil(100);
  const NodeId narrowest(3);
  const auto capacity_bps = [&] {
    for (const SharedGroup& group : job.groups()) {
      if (group.kind == SharedGroup::Kind::kReceived && group.host == narrowest) return job.CapacityBps(group);
    }
    return 0.0;
  };
  const NodeConfig& node = hidden.options.overlay.nodes[narrowest.value() - 1];
  EXPECT_NEAR(capacity_bps() / *node.down_cap_bps, 1, 0.1);
  job.cluster().simulator()->network()->SetHostCaps(narrowest, *node.up_cap_bps, 0.5 * *node.down_cap_bps);
  job.RunUntil(100 + 2 * absl::ToDoubleSeconds(hidden.told.topology.update_interval));
  EXPECT_NEAR(capacity_bps() / *node.down_cap_bps, 0.5, 0.1);
}

}  // namespace
}  // namespace banyan
