#include "topology/auxiliary_paths.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

// Delays in millionths of what the fastest link of the view needs per bit: whole numbers add up alike in any order. So
// a tie is a tie, and an estimate that is summed backwards never exceeds what it estimates.
constexpr double kUnitsOfFastest = 1e6;
// Beyond this a link is slower than the fastest by a factor of a billion; 4,096 such links still fit into 64 bits.
constexpr int64_t kMostUnits = 1'000'000'000'000'000;
constexpr int64_t kUnreachable = std::numeric_limits<int64_t>::max() / 4;

struct Cost {
  int64_t delay = 0;
  int64_t hops = 0;

  friend auto operator<=>(const Cost&, const Cost&) = default;
  friend Cost operator+(const Cost& a, const Cost& b) { return {a.delay + b.delay, a.hops + b.hops}; }
};

constexpr Cost kNever = {kUnreachable, 0};

// One direction of a link, by positions in view.nodes() and view.links().
struct Hop {
  size_t node;
  size_t link;
};

// A node to look at next; the lowest `least`, the cost of a whole path through it, comes first, then the lowest node.
struct Candidate {
  Cost least;
  size_t node;

  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

using Queue = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>>;

// Finds paths in one view, from which links can be taken away for a while. What is left to the target in the full view
// guides every search (A*). So a search touches little more than the path that it finds.
class PathSearch {
 public:
  explicit PathSearch(const NetworkView& view);

  void RestoreLinks() { ++generation_; }
  void RemoveLinks(const std::vector<NodeId>& path);
  // The best path over the links that are left and of at most this delay.
  std::optional<std::vector<NodeId>> Find(NodeId from, NodeId to, int64_t most_delay);
  int64_t DelayOf(const std::vector<NodeId>& path) const;

 private:
  struct Label {
    Cost cost;
    size_t previous = 0;
    uint64_t search = 0;  // that the label is of
  };

  size_t LinkBetween(NodeId from, NodeId to) const;
  const std::vector<Cost>& CostsTo(size_t target);
  void Expand(size_t node, const std::vector<Cost>& left, int64_t most_delay, Queue& open);
  std::vector<NodeId> PathTo(size_t target, size_t source) const;

  const NetworkView& view_;
  std::vector<int64_t> delays_;             // by link
  std::vector<std::vector<Hop>> outgoing_;  // by node, ascending
  std::vector<std::vector<Hop>> incoming_;
  std::vector<Cost> costs_;  // by node, to the target of the last search
  size_t target_ = 0;
  std::vector<uint64_t> removed_in_;  // by link
  std::vector<Label> labels_;         // by node
  uint64_t generation_ = 1;
  uint64_t search_ = 0;
};

PathSearch::PathSearch(const NetworkView& view)
    : view_(view),
      outgoing_(view.nodes().size()),
      incoming_(view.nodes().size()),
      removed_in_(view.links().size(), 0),
      labels_(view.nodes().size()) {
  double fastest_bps = 0;
  for (const NetworkLink& link : view.links()) fastest_bps = std::max(fastest_bps, link.throughput_bps);
  for (size_t i = 0; i < view.links().size(); ++i) {
    const NetworkLink& link = view.links()[i];
    const size_t from = *view.IndexOf(link.from);
    const size_t to = *view.IndexOf(link.to);
    outgoing_[from].push_back({to, i});
    incoming_[to].push_back({from, i});
    const double units = std::round(kUnitsOfFastest * fastest_bps / link.throughput_bps);
    delays_.push_back(std::min(kMostUnits, static_cast<int64_t>(std::min(units, 1e18))));
  }
}

size_t PathSearch::LinkBetween(NodeId from, NodeId to) const {
  const NetworkLink* link = view_.FindLink(from, to);
  BANYAN_CHECK(link != nullptr);
  return static_cast<size_t>(link - view_.links().data());
}

void PathSearch::RemoveLinks(const std::vector<NodeId>& path) {
  for (size_t i = 1; i < path.size(); ++i) removed_in_[LinkBetween(path[i - 1], path[i])] = generation_;
}

int64_t PathSearch::DelayOf(const std::vector<NodeId>& path) const {
  int64_t delay = 0;
  for (size_t i = 1; i < path.size(); ++i) delay += delays_[LinkBetween(path[i - 1], path[i])];
  return delay;
}

const std::vector<Cost>& PathSearch::CostsTo(size_t target) {
  if (!costs_.empty() && target_ == target) return costs_;
  target_ = target;
  costs_.assign(view_.nodes().size(), kNever);
  costs_[target] = {};
  Queue open;
  open.push({{}, target});
  while (!open.empty()) {
    const Candidate next = open.top();
    open.pop();
    if (costs_[next.node] < next.least) continue;
    for (const Hop& hop : incoming_[next.node]) {
      const Cost through = next.least + Cost{delays_[hop.link], 1};
      if (through >= costs_[hop.node]) continue;
      costs_[hop.node] = through;
      open.push({through, hop.node});
    }
  }
  return costs_;
}

void PathSearch::Expand(size_t node, const std::vector<Cost>& left, int64_t most_delay, Queue& open) {
  for (const Hop& hop : outgoing_[node]) {
    if (removed_in_[hop.link] == generation_) continue;
    const Cost cost = labels_[node].cost + Cost{delays_[hop.link], 1};
    Label& label = labels_[hop.node];
    if (label.search == search_ && label.cost <= cost) continue;
    const Cost least = cost + left[hop.node];
    if (least.delay > most_delay) continue;
    label = {cost, node, search_};
    open.push({least, hop.node});
  }
}

std::vector<NodeId> PathSearch::PathTo(size_t target, size_t source) const {
  std::vector<NodeId> path;
  for (size_t at = target; at != source; at = labels_[at].previous) path.push_back(view_.nodes()[at].id);
  path.push_back(view_.nodes()[source].id);
  std::reverse(path.begin(), path.end());
  return path;
}

std::optional<std::vector<NodeId>> PathSearch::Find(NodeId from, NodeId to, int64_t most_delay) {
  const size_t source = *view_.IndexOf(from);
  const size_t target = *view_.IndexOf(to);
  const std::vector<Cost>& left = CostsTo(target);
  ++search_;
  labels_[source] = {{}, source, search_};
  Queue open;
  open.push({left[source], source});
  while (!open.empty()) {
    const Candidate next = open.top();
    if (labels_[target].search == search_ && labels_[target].cost <= next.least) return PathTo(target, source);
    open.pop();
    if (labels_[next.node].cost + left[next.node] < next.least) continue;
    Expand(next.node, left, most_delay, open);
  }
  return std::nullopt;
}

// As (to, from): the search is quickest when edges with the same target come together.
std::set<std::pair<NodeId, NodeId>> EdgesByTarget(const std::vector<Tree>& trees) {
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const Tree& tree : trees) {
    for (const auto& [node, parent] : tree.reduce_parent) edges.insert({parent, node});
    for (const auto& [node, parent] : tree.broadcast_parent) edges.insert({node, parent});
  }
  return edges;
}

int PathsPerEdge(size_t edges, const AuxiliaryLimits& limits) {
  const int count = static_cast<int>(edges);
  if (count == 0 || count > limits.max_edges) return 0;
  return std::min(limits.max_paths_per_edge, std::max(1, limits.max_paths / count));
}

}  // namespace

std::vector<Route> FindAuxiliaryPaths(const Policy& policy, const NetworkView& view, const AuxiliaryLimits& limits) {
  std::map<std::pair<NodeId, NodeId>, const Route*> routes;
  for (const Route& route : policy.routes) routes[{route.from, route.to}] = &route;
  PathSearch search(view);
  std::vector<Route> auxiliary;
  const std::set<std::pair<NodeId, NodeId>> edges = EdgesByTarget(policy.trees);
  const int paths_per_edge = PathsPerEdge(edges.size(), limits);
  for (const auto& [to, from] : edges) {
    const auto routed = routes.find({from, to});
    const std::vector<NodeId> primary = routed == routes.end() ? std::vector<NodeId>{from, to} : routed->second->path;
    search.RestoreLinks();
    search.RemoveLinks(primary);
    const double most_delay = static_cast<double>(search.DelayOf(primary)) * limits.max_slowdown;
    const int64_t most_units = static_cast<int64_t>(std::min(most_delay, static_cast<double>(kUnreachable / 2)));
    for (int i = 0; i < paths_per_edge; ++i) {
      std::optional<std::vector<NodeId>> path = search.Find(from, to, most_units);
      if (!path.has_value()) break;
      search.RemoveLinks(*path);
      auxiliary.push_back({from, to, *std::move(path)});
    }
  }
  std::stable_sort(auxiliary.begin(), auxiliary.end(),
                   [](const Route& a, const Route& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  return auxiliary;
}

}  // namespace banyan
