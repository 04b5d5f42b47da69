#include "sim/sample_overlays.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

using Pairs = std::set<std::pair<int, int>>;

std::pair<int, int> Ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

OverlayConfig MakeOverlay(const OverlayShape& shape, const Pairs& pairs, Random* random) {
  OverlayConfig overlay;
  overlay.topology.planner = "fapt";  // the cheapest to plan; who wants another says so
  for (int i = 1; i <= shape.nodes; ++i) overlay.nodes.emplace_back().name = absl::StrCat("n", i);
  const auto rate = [&] { return shape.least_bps + (shape.most_bps - shape.least_bps) * random->Unit(); };
  overlay.links.emplace();
  for (const auto& [a, b] : pairs) {
    LinkConfig& link = overlay.links->emplace_back();
    link.a = overlay.nodes[a].name;
    link.b = overlay.nodes[b].name;
    link.a_to_b_bps = rate();
    link.b_to_a_bps = rate();
    const absl::Duration delay = shape.least_delay + (shape.most_delay - shape.least_delay) * random->Unit();
    link.delay = absl::Trunc(delay, absl::Microseconds(1));
  }
  return overlay;
}

void Shuffle(std::vector<int>* values, Random* random) {
  for (size_t i = values->size(); i > 1; --i) std::swap((*values)[i - 1], (*values)[random->Below(i)]);
}

// The unfilled places of all nodes, joined at random; false when the last ones do not fit.
bool FillPlaces(int nodes, int places, Pairs* pairs, Random* random) {
  std::vector<int> open;
  for (int node = 0; node < nodes; ++node) open.insert(open.end(), places, node);
  Shuffle(&open, random);
  while (!open.empty()) {
    const int node = open.back();
    const auto fits = [&](int other) { return other != node && !pairs->contains(Ordered(node, other)); };
    const auto other = std::find_if(open.begin(), open.end(), fits);
    if (other == open.end()) return false;
    pairs->insert(Ordered(node, *other));
    open.pop_back();
    open.erase(other);
  }
  return true;
}

}  // namespace

OverlayConfig RandomOverlay(const OverlayShape& shape, Random* random) {
  BANYAN_CHECK(shape.nodes >= 1);
  Pairs pairs;
  for (int node = 1; node < shape.nodes; ++node) pairs.insert({static_cast<int>(random->Below(node)), node});
  const int64_t most = int64_t{shape.nodes} * (shape.nodes - 1) / 2;
  const int64_t wanted = std::min<int64_t>(shape.links, most);
  while (static_cast<int64_t>(pairs.size()) < wanted) {
    const int a = static_cast<int>(random->Below(shape.nodes));
    const int b = static_cast<int>(random->Below(shape.nodes));
    if (a != b) pairs.insert(Ordered(a, b));
  }
  return MakeOverlay(shape, pairs, random);
}

OverlayConfig RegularOverlay(const OverlayShape& shape, int degree, Random* random) {
  BANYAN_CHECK(degree >= 2 && degree < shape.nodes && shape.nodes * degree % 2 == 0);
  for (;;) {
    Pairs pairs;
    for (int node = 0; node < shape.nodes; ++node) pairs.insert(Ordered(node, (node + 1) % shape.nodes));
    if (FillPlaces(shape.nodes, degree - 2, &pairs, random)) return MakeOverlay(shape, pairs, random);
  }
}

OverlayConfig OverlayOf(const NetworkView& view) {
  OverlayConfig overlay;
  for (const NetworkNode& node : view.nodes()) {
    NodeConfig& config = overlay.nodes.emplace_back();
    config.name = node.name;
    config.up_cap_bps = node.up_cap_bps;
    config.down_cap_bps = node.down_cap_bps;
  }
  overlay.links.emplace();
  for (const NetworkLink& link : view.links()) {
    const NetworkLink* back = view.FindLink(link.to, link.from);
    BANYAN_CHECK(back != nullptr && back->delay == link.delay && back->loss_fraction == link.loss_fraction);
    if (link.to < link.from) continue;
    LinkConfig& config = overlay.links->emplace_back();
    config.a = view.NameOf(link.from);
    config.b = view.NameOf(link.to);
    config.a_to_b_bps = link.throughput_bps;
    config.b_to_a_bps = back->throughput_bps;
    config.delay = link.delay;
    config.loss_fraction = link.loss_fraction;
  }
  return overlay;
}

}  // namespace banyan
