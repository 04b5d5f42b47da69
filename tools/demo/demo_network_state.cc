#include "tools/demo/demo_network_state.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

constexpr double kKnownPart = 0.2;

bool SameRates(const WanStatus& a, const WanStatus& b) {
  return std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(),
                    [](const WanStatus::Link& left, const WanStatus::Link& right) { return left.mbps == right.mbps; });
}

}  // namespace

void DemoNetworkState::Add(const JobStatus& status, absl::Duration elapsed) {
  if (status.policy != status_.policy) policy_since_ = elapsed;
  status_ = status;
}

void DemoNetworkState::Add(const WanStatus& wan, absl::Duration elapsed) {
  if (wan_.has_value() && !SameRates(*wan_, wan)) {
    ++rate_changes_;
    rates_since_ = elapsed;
  }
  wan_ = wan;
}

std::vector<DemoLink> DemoNetworkState::links() const {
  std::vector<DemoLink> links;
  for (const JobStatus::Link& link : status_.links) {
    links.push_back({link.from, link.to, link.traffic.sent_bytes, link.mbps, link.age_s.has_value()});
    const WanStatus::Link* emulated = wan_.has_value() ? wan_->FindLink(link.from, link.to) : nullptr;
    if (emulated == nullptr) continue;
    links.back().wan_mbps = emulated->mbps;
    links.back().is_cut = emulated->is_cut;
  }
  return links;
}

uint64_t DemoNetworkState::wire_bytes() const {
  uint64_t total = 0;
  for (const JobStatus::Link& link : status_.links) total += link.traffic.sent_bytes;
  return total;
}

std::optional<int> DemoNetworkState::links_known() const {
  if (!wan_.has_value()) return std::nullopt;
  const std::vector<DemoLink> all = links();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const DemoLink& link) {
    return link.wan_mbps.has_value() && std::abs(link.mbps - *link.wan_mbps) <= kKnownPart * *link.wan_mbps;
  }));
}

}  // namespace banyan
