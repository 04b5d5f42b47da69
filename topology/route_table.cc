#include "topology/route_table.h"

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace banyan {
namespace {

constexpr uint32_t kNoPath = std::numeric_limits<uint32_t>::max();

}  // namespace

RouteTable::RouteTable(const NetworkView* view) : view_(view), sources_(view->nodes().size()) {}

// Breadth first, one distance at a time, so that each node's slowest link is final before its neighbours look at it.
RouteTable::FromSource RouteTable::Search(size_t source) const {
  const size_t nodes = view_->nodes().size();
  FromSource found{std::vector<uint32_t>(nodes, kNoPath), std::vector<double>(nodes, 0)};
  std::vector<double> slowest(nodes, 0);
  std::vector<size_t> hops(nodes, nodes);
  hops[source] = 0;
  slowest[source] = std::numeric_limits<double>::infinity();
  found.previous[source] = static_cast<uint32_t>(source);
  std::vector<size_t> level = {source};
  while (!level.empty()) {
    std::vector<size_t> next_level;
    std::sort(level.begin(), level.end());
    for (const size_t at : level) {
      for (const NetworkLink& link : view_->LinksFrom(view_->nodes()[at].id)) {
        const size_t to = *view_->IndexOf(link.to);
        if (hops[to] <= hops[at]) continue;
        const double through = std::min(slowest[at], link.throughput_bps);
        if (hops[to] == nodes) next_level.push_back(to);
        if (through <= slowest[to]) continue;
        hops[to] = hops[at] + 1;
        slowest[to] = through;
        found.previous[to] = static_cast<uint32_t>(at);
        found.delay[to] = found.delay[at] + 1 / link.throughput_bps;
      }
    }
    level = std::move(next_level);
  }
  return found;
}

const RouteTable::FromSource& RouteTable::PathsFrom(size_t source) {
  FromSource& paths = sources_[source];
  if (paths.previous.empty()) paths = Search(source);
  return paths;
}

Route RouteTable::Find(NodeId from, NodeId to) {
  const FromSource& paths = PathsFrom(*view_->IndexOf(from));
  Route route{from, to, {}};
  for (NodeId at = to; at != from;) {
    route.path.push_back(at);
    const uint32_t previous = paths.previous[*view_->IndexOf(at)];
    BANYAN_CHECK(previous != kNoPath);
    at = view_->nodes()[previous].id;
  }
  route.path.push_back(from);
  std::reverse(route.path.begin(), route.path.end());
  return route;
}

double RouteTable::Delay(NodeId from, NodeId to) { return PathsFrom(*view_->IndexOf(from)).delay[*view_->IndexOf(to)]; }

}  // namespace banyan
