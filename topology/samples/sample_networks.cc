#include "topology/samples/sample_networks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/random.h"
#include "core/units.h"

namespace banyan {
namespace {

void AddBoth(uint32_t a, uint32_t b, double a_to_b_mbps, double b_to_a_mbps, std::vector<SampleLink>& links) {
  links.push_back({a, b, a_to_b_mbps});
  links.push_back({b, a, b_to_a_mbps});
}

double DrawnMbps(Random& random) { return static_cast<double>(random.Between(20, 155)); }

// n1..n<count>.
std::vector<NetworkNode> Nodes(int count) {
  std::vector<NetworkNode> nodes;
  for (int i = 1; i <= count; ++i) {
    nodes.push_back({NodeId(static_cast<uint32_t>(i)), "n" + std::to_string(i), {}, {}});
  }
  return nodes;
}

NetworkView Made(std::vector<NetworkNode> nodes, std::vector<NetworkLink> links) {
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(nodes), std::move(links));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

struct Place {
  double x = 0;
  double y = 0;
};

double Distance(const Place& a, const Place& b) { return std::hypot(a.x - b.x, a.y - b.y); }

// Each place with the `degree` ones that are nearest to it, by their positions.
std::set<std::pair<uint32_t, uint32_t>> NearestPairs(const std::vector<Place>& places, int degree) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t a = 0; a < places.size(); ++a) {
    std::vector<std::pair<double, uint32_t>> others;
    for (uint32_t b = 0; b < places.size(); ++b) {
      if (b != a) others.push_back({Distance(places[a], places[b]), b});
    }
    std::sort(others.begin(), others.end());
    others.resize(std::min(others.size(), static_cast<size_t>(degree)));
    for (const auto& [distance, b] : others) pairs.insert(std::minmax(a, b));
  }
  return pairs;
}

// Joins what the pairs leave apart by the shortest links.
void ConnectNearest(const std::vector<Place>& places, std::set<std::pair<uint32_t, uint32_t>>& pairs) {
  std::vector<uint32_t> part(places.size());
  for (uint32_t i = 0; i < part.size(); ++i) part[i] = i;
  const auto join = [&part](uint32_t a, uint32_t b) {
    const uint32_t old = part[a];  // std::replace would see its own changes otherwise
    const uint32_t joined = part[b];
    std::replace(part.begin(), part.end(), old, joined);
  };
  for (const auto& [a, b] : pairs) join(a, b);
  std::vector<std::tuple<double, uint32_t, uint32_t>> candidates;
  for (uint32_t a = 0; a < places.size(); ++a) {
    for (uint32_t b = a + 1; b < places.size(); ++b) candidates.push_back({Distance(places[a], places[b]), a, b});
  }
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [distance, a, b] : candidates) {
    if (part[a] == part[b]) continue;
    pairs.insert({a, b});
    join(a, b);
  }
}

}  // namespace

NetworkView SampleNetwork(int nodes, const std::vector<SampleLink>& links) {
  std::vector<NetworkLink> network_links;
  for (const SampleLink& link : links) {
    network_links.push_back({NodeId(link.from), NodeId(link.to), link.mbps * kBitsPerMegabit, absl::Milliseconds(15), 0,
                             LinkSource::kBelieved});
  }
  return Made(Nodes(nodes), std::move(network_links));
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

NetworkView Cloud9Network() {
  struct Pair {
    uint32_t a;
    uint32_t b;
    double a_to_b_mbps;
    double b_to_a_mbps;
    double delay_ms;
  };
  constexpr Pair kPairs[] = {
      {1, 2, 3910, 3910, 63.5},  {1, 3, 4340, 6050, 15.5},   {1, 4, 4330, 2270, 38},     {1, 5, 3540, 1850, 69.5},
      {1, 6, 3100, 1510, 107.5}, {1, 7, 4650, 6830, 15.5},   {1, 8, 4260, 5390, 44.5},   {1, 9, 3190, 4380, 118.5},
      {2, 3, 3360, 2090, 72},    {2, 4, 3400, 820, 97.5},    {2, 5, 2570, 580, 141.5},   {2, 6, 2090, 530, 164},
      {2, 7, 3790, 2140, 72},    {2, 8, 3330, 4530, 102.5},  {2, 9, 2140, 2660, 182.5},  {3, 4, 19290, 12030, 56.5},
      {3, 5, 13170, 12700, 71},  {3, 6, 17870, 11570, 92.5}, {3, 7, 8420, 5960, 18},     {3, 8, 2660, 5110, 61},
      {3, 9, 3590, 4950, 123},   {4, 5, 4760, 6120, 122.5},  {4, 6, 8020, 7930, 130},    {4, 7, 5080, 4290, 56.5},
      {4, 8, 15080, 5570, 6.5},  {4, 9, 4800, 4770, 68.5},   {5, 6, 12290, 12340, 57.5}, {5, 7, 5200, 5510, 71},
      {5, 8, 3480, 4400, 117.5}, {5, 9, 8100, 6160, 56.5},   {6, 7, 3110, 4660, 92.5},   {6, 8, 1470, 3880, 124},
      {6, 9, 7020, 5070, 62.5},  {7, 8, 5360, 5720, 61},     {7, 9, 4120, 4810, 123},    {8, 9, 3150, 4680, 69}};
  constexpr const char* kNames[] = {"aws-use1", "aws-sae1", "az-westus", "az-neurope", "az-japane",
                                    "az-auste", "gcp-usc1", "gcp-euw4",  "gcp-ase1"};
  constexpr double kLossFraction = 1e-4;
  std::vector<NetworkNode> nodes;
  for (const char* name : kNames) nodes.push_back({NodeId(static_cast<uint32_t>(nodes.size()) + 1), name, {}, {}});
  std::vector<NetworkLink> links;
  for (const Pair& pair : kPairs) {
    const NetworkLink link{
        NodeId(pair.a), NodeId(pair.b),       pair.a_to_b_mbps * kBitsPerMegabit, absl::Milliseconds(pair.delay_ms),
        kLossFraction,  LinkSource::kBelieved};
    links.push_back(link);
    links.push_back(link);
    links.back().from = link.to;
    links.back().to = link.from;
    links.back().throughput_bps = pair.b_to_a_mbps * kBitsPerMegabit;
  }
  return Made(std::move(nodes), std::move(links));
}

NetworkView DrawnInternet2Network(uint64_t seed) {
  const NetworkView view = Internet2Network();
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  Random random(seed);
  for (NetworkLink& link : links) link.throughput_bps = DrawnMbps(random) * kBitsPerMegabit;
  return Made({view.nodes().begin(), view.nodes().end()}, std::move(links));
}

NetworkView HubAndMeshNetwork(int leaves, double hub_mbps, double mesh_mbps) {
  std::vector<SampleLink> links;
  const uint32_t nodes = static_cast<uint32_t>(leaves) + 1;
  for (uint32_t a = 1; a <= nodes; ++a) {
    const double mbps = a == 1 ? hub_mbps : mesh_mbps;
    for (uint32_t b = a + 1; b <= nodes; ++b) AddBoth(a, b, mbps, mbps, links);
  }
  return SampleNetwork(leaves + 1, links);
}

NetworkView GeometricNetwork(int nodes, int degree, uint64_t seed) {
  Random random(seed);
  std::vector<Place> places(static_cast<size_t>(nodes));
  for (Place& place : places) place = {random.Unit(), random.Unit()};
  std::set<std::pair<uint32_t, uint32_t>> pairs = NearestPairs(places, degree);
  ConnectNearest(places, pairs);
  std::vector<NetworkLink> links;
  for (const auto& [a, b] : pairs) {
    const absl::Duration delay = absl::Milliseconds(30 * Distance(places[a], places[b]));
    for (const auto& [from, to] : {std::make_pair(a, b), std::make_pair(b, a)}) {
      links.push_back(
          {NodeId(from + 1), NodeId(to + 1), DrawnMbps(random) * kBitsPerMegabit, delay, 0, LinkSource::kBelieved});
    }
  }
  return Made(Nodes(nodes), std::move(links));
}

NetworkView WithCaps(const NetworkView& view, double up_mbps, double down_mbps) {
  std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
  for (NetworkNode& node : nodes) {
    node.up_cap_bps = up_mbps * kBitsPerMegabit;
    node.down_cap_bps = down_mbps * kBitsPerMegabit;
  }
  return Made(std::move(nodes), {view.links().begin(), view.links().end()});
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
    const double a_to_b_mbps = DrawnMbps(random);
    const double b_to_a_mbps = DrawnMbps(random);
    AddBoth(a, b, a_to_b_mbps, b_to_a_mbps, links);
  }
  return SampleNetwork(nodes, links);
}

}  // namespace banyan
