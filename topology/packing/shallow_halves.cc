#include "topology/packing/shallow_halves.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "core/check.h"

namespace banyan {
namespace {

// The link's end on the root's side, and the other one.
size_t Inner(const Arc& link, Half half) { return half == Half::kReduce ? link.to : link.from; }
size_t Outer(const Arc& link, Half half) { return half == Half::kReduce ? link.from : link.to; }

}  // namespace

double DelayOfHalf(const CapacityGraph& graph, const HalfTree& half, absl::Span<const double> delays) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> link_of(graph.nodes(), kNone);  // towards the root
  for (const size_t link : half.links) link_of[Outer(graph.links()[link], half.half)] = link;
  std::vector<double> delay(graph.nodes(), -1);
  delay[half.root] = 0;
  std::vector<size_t> path;
  for (size_t node = 0; node < graph.nodes(); ++node) {
    for (size_t at = node; delay[at] < 0; at = Inner(graph.links()[link_of[at]], half.half)) path.push_back(at);
    for (; !path.empty(); path.pop_back()) {
      const size_t link = link_of[path.back()];
      delay[path.back()] = delay[Inner(graph.links()[link], half.half)] + delays[link];
    }
  }
  return *std::max_element(delay.begin(), delay.end());
}

HalfTree GrowHalf(const CapacityGraph& graph, Half half, size_t root, absl::Span<const double> costs,
                  absl::Span<const double> delays, double weight) {
  const std::vector<Arc>& links = graph.links();
  std::vector<std::vector<size_t>> links_of(graph.nodes());  // that lead outwards
  for (size_t i = 0; i < links.size(); ++i) links_of[Inner(links[i], half)].push_back(i);
  using Candidate = std::pair<double, size_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>> candidates;
  std::vector<double> delay(graph.nodes(), -1);
  const auto reach = [&](size_t node, double at) {
    delay[node] = at;
    for (const size_t link : links_of[node]) {
      if (delay[Outer(links[link], half)] < 0) candidates.push({costs[link] + weight * (at + delays[link]), link});
    }
  };
  HalfTree tree{half, root, {}};
  reach(root, 0);
  while (tree.links.size() + 1 < graph.nodes()) {
    BANYAN_CHECK(!candidates.empty());
    const size_t link = candidates.top().second;
    candidates.pop();
    const size_t node = Outer(links[link], half);
    if (delay[node] >= 0) continue;
    tree.links.push_back(link);
    reach(node, delay[Inner(links[link], half)] + delays[link]);
  }
  std::sort(tree.links.begin(), tree.links.end());
  return tree;
}

}  // namespace banyan
