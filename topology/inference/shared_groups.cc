#include "topology/inference/shared_groups.h"

#include <map>
#include <optional>
#include <utility>

#include "topology/inference/sum_evidence.h"

namespace banyan {
namespace {

// The sums of fewer links hardly differ. Where these become slower at about the same time, as noisy measurements of
// changing links say, that would look like a cap.
constexpr size_t kLeastLinksOfHost = 5;

}  // namespace

std::vector<size_t> LinksOfHost(const NetworkView& view, NodeId host, SharedGroup::Kind kind) {
  std::vector<size_t> links;
  for (size_t i = 0; i < view.links().size(); ++i) {
    const NetworkLink& link = view.links()[i];
    if ((kind == SharedGroup::Kind::kSent ? link.from : link.to) == host) links.push_back(i);
  }
  return links;
}

std::vector<SharedGroup> FindHostGroups(const NetworkView& view, const TrafficWindow& window) {
  using Kind = SharedGroup::Kind;
  std::map<std::pair<NodeId, Kind>, std::vector<size_t>> candidates;
  for (const auto& [number, series] : window.links()) {
    const NetworkLink& link = view.links()[number];
    if (!view.FindNode(link.from)->up_cap_bps.has_value()) candidates[{link.from, Kind::kSent}].push_back(number);
    if (!view.FindNode(link.to)->down_cap_bps.has_value()) candidates[{link.to, Kind::kReceived}].push_back(number);
  }
  std::vector<SharedGroup> groups;
  for (const auto& [host, links] : candidates) {
    if (links.size() < kLeastLinksOfHost) continue;
    const std::optional<SumEvidence> evidence = FindSharing(window, links);
    if (!evidence.has_value()) continue;
    groups.push_back({host.second, host.first, LinksOfHost(view, host.first, host.second), evidence->reached_bps});
  }
  return groups;
}

}  // namespace banyan
