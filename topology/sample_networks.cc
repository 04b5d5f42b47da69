#include "topology/sample_networks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/random.h"

namespace banyan {
namespace {

constexpr double kBitsPerMegabit = 1e6;

void AddBoth(uint32_t a, uint32_t b, double a_to_b_mbps, double b_to_a_mbps, std::vector<SampleLink>& links) {
  links.push_back({a, b, a_to_b_mbps});
  links.push_back({b, a, b_to_a_mbps});
}

}  // namespace

NetworkView SampleNetwork(int nodes, const std::vector<SampleLink>& links) {
  std::vector<NetworkNode> network_nodes;
  for (int i = 1; i <= nodes; ++i) {
    network_nodes.push_back({NodeId(static_cast<uint32_t>(i)), "n" + std::to_string(i), {}, {}});
  }
  std::vector<NetworkLink> network_links;
  for (const SampleLink& link : links) {
    network_links.push_back({NodeId(link.from), NodeId(link.to), link.mbps * kBitsPerMegabit, absl::Milliseconds(15), 0,
                             LinkSource::kBelieved});
  }
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(network_nodes), std::move(network_links));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

NetworkView TriangleNetwork() {
  std::vector<SampleLink> links;
  AddBoth(1, 2, 10, 10, links);
  AddBoth(2, 3, 10, 10, links);
  AddBoth(1, 3, 4.9, 4.9, links);
  return SampleNetwork(3, links);
}

NetworkView CompleteNetwork(int nodes, double mbps) {
  std::vector<SampleLink> links;
  for (uint32_t a = 1; a <= static_cast<uint32_t>(nodes); ++a) {
    for (uint32_t b = a + 1; b <= static_cast<uint32_t>(nodes); ++b) AddBoth(a, b, mbps, mbps, links);
  }
  return SampleNetwork(nodes, links);
}

NetworkView Internet2Network() {
  std::vector<SampleLink> links;
  AddBoth(1, 2, 38, 54, links);
  AddBoth(1, 3, 135, 81, links);
  AddBoth(2, 3, 123, 108, links);
  AddBoth(2, 5, 87, 78, links);
  AddBoth(3, 4, 127, 32, links);
  AddBoth(4, 5, 23, 20, links);
  AddBoth(4, 6, 133, 80, links);
  AddBoth(5, 7, 123, 142, links);
  AddBoth(6, 7, 118, 24, links);
  AddBoth(6, 8, 51, 93, links);
  AddBoth(6, 9, 148, 49, links);
  AddBoth(7, 8, 23, 147, links);
  AddBoth(8, 9, 71, 77, links);
  return SampleNetwork(9, links);
}

NetworkView RandomNetwork(int nodes, int degree, uint64_t seed) {
  Random random(seed);
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  const uint32_t count = static_cast<uint32_t>(nodes);
  for (uint32_t node = 2; node <= count; ++node) {
    pairs.insert({static_cast<uint32_t>(1 + random.Below(node - 1)), node});
  }
  const uint64_t possible = uint64_t{count} * (count - 1) / 2;
  const uint64_t wanted = std::min<uint64_t>(possible, uint64_t{count} * static_cast<uint64_t>(degree) / 2);
  while (pairs.size() < wanted) {
    const uint32_t a = static_cast<uint32_t>(1 + random.Below(count));
    const uint32_t b = static_cast<uint32_t>(1 + random.Below(count));
    if (a < b) pairs.insert({a, b});
  }
  std::vector<SampleLink> links;
  for (const auto& [a, b] : pairs) {
    const double a_to_b_mbps = static_cast<double>(random.Between(20, 155));
    const double b_to_a_mbps = static_cast<double>(random.Between(20, 155));
    AddBoth(a, b, a_to_b_mbps, b_to_a_mbps, links);
  }
  return SampleNetwork(nodes, links);
}

}  // namespace banyan
