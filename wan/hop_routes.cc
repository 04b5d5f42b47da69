#include "wan/hop_routes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace banyan {
namespace {

constexpr size_t kNoNode = std::numeric_limits<size_t>::max();

struct Step {
  size_t hops = kNoNode;
  double seconds_per_bit = 0;
  size_t before = kNoNode;
};

// Offers the way over `link` to its end. Nodes of a level are tried in order of id, so equals keep the lower one.
bool Improve(const NetworkLink& link, size_t from, const Step& start, Step& end) {
  const double through = start.seconds_per_bit + 1 / link.throughput_bps;
  const size_t hops = start.hops + 1;
  if (end.hops < hops || (end.hops == hops && end.seconds_per_bit <= through)) return false;
  end = {hops, through, from};
  return true;
}

std::vector<Step> Search(const NetworkView& view, size_t source) {
  std::vector<Step> steps(view.nodes().size());
  steps[source].hops = 0;
  std::vector<size_t> level = {source};
  while (!level.empty()) {
    std::vector<size_t> next;
    for (const size_t from : level) {
      for (const NetworkLink& link : view.LinksFrom(view.nodes()[from].id)) {
        const size_t to = *view.IndexOf(link.to);
        const bool is_new = steps[to].hops == kNoNode;
        if (Improve(link, from, steps[from], steps[to]) && is_new) next.push_back(to);
      }
    }
    std::sort(next.begin(), next.end());
    level = std::move(next);
  }
  return steps;
}

}  // namespace

std::vector<std::vector<size_t>> HopRoutesFrom(const NetworkView& view, size_t source) {
  const std::vector<Step> steps = Search(view, source);
  std::vector<std::vector<size_t>> routes(steps.size());
  for (size_t to = 0; to < steps.size(); ++to) {
    if (steps[to].hops == kNoNode) continue;
    for (size_t node = to; node != kNoNode; node = steps[node].before) routes[to].push_back(node);
    std::reverse(routes[to].begin(), routes[to].end());
  }
  return routes;
}

}  // namespace banyan
