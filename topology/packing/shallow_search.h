// Looks for cheap half trees of few levels in dense overlays, at prices of links and of nodes that serve others. Most
// nodes have a link with the root or with a node that has one. Where most nodes have links with each other, such trees
// can use almost all that the links carry, and their chunks wait for few links. Thread-compatible. Keeps its memory
// from one search to the next.
#ifndef BANYAN_TOPOLOGY_PACKING_SHALLOW_SEARCH_H_
#define BANYAN_TOPOLOGY_PACKING_SHALLOW_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/half.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

namespace banyan {

class ShallowSearch {
 public:
  // Looks for half trees of at most `levels`, at least 2. No link may be used before SetCost says so.
  ShallowSearch(const CapacityGraph& graph, size_t levels);

  // Sets what a link costs from now on, at least 0; an infinite cost forbids it.
  void SetCost(size_t link, double cost);
  // Sets what a node costs, at least 0 and finite, for each link over which it takes sums (kReduce) or sends results
  // (kBroadcast).
  void SetServingCost(Half half, size_t node, double cost);

  // Finds a cheap half tree of the root in O(nodes^2); false when two levels of usable links do not reach all nodes.
  // The very cheapest is as hard to find as the best places of depots. This one first chooses the nodes that have links
  // with the root, those first that lose least by it. Of equally cheap ones always the same.
  bool Find(Half half, size_t root);

  // What the last search found.
  double cost() const { return cost_; }
  const HalfTree& half() const { return half_; }

 private:
  static constexpr uint32_t kNone = static_cast<uint32_t>(-1);

  // The links of one half between each inner node, on the root's side, and each outer one.
  struct Side {
    std::vector<double> costs;               // by inner node, then outer node
    std::vector<uint32_t> links;             // alike; kNone where there is none
    std::vector<double> serving;             // by inner node: what each of its links costs beside
    std::vector<double> cheapest;            // by outer node, over all inner ones
    std::vector<uint8_t> is_cheapest_known;  // by outer node
  };

  const double* CostsOf(const Side& side, size_t inner) const { return &side.costs[inner * nodes_]; }
  // Sets the cheapest costs of nodes whose links have changed; `other` is the other half's side.
  void FindCheapest(const Side& other, Side& side) const;
  // Sorts the nodes by what their links with the root cost too much; those without one come last.
  void SortNodes(const Side& side, size_t root);
  // Chooses how many of the first nodes in that order have links with the root, and serve others.
  size_t ChooseDirect(const Side& side, size_t root);
  // Gives every other node the cheapest inner end among them and the root.
  void Attach(const Side& side, size_t root, size_t direct);
  // Moves the node to the inner end if that is cheaper.
  void Prefer(const Side& side, size_t inner, size_t node);
  // Moves nodes that serve nobody to cheaper inner ends: the direct ones to direct ones, then all to any node that is
  // not too deep.
  void MoveDirect(const Side& side, size_t root, size_t direct);
  void Deepen(const Side& side);

  const CapacityGraph& graph_;
  const size_t nodes_;
  const size_t levels_;
  Side reduce_;
  Side broadcast_;
  std::vector<size_t> order_;  // all nodes but the root
  size_t reachable_ = 0;       // so many of the first in order_ have a usable link with the root
  // By node: what it is linked to and at which cost, how many are linked to it, and its level.
  std::vector<size_t> parents_;
  std::vector<double> least_;
  std::vector<size_t> children_;
  std::vector<size_t> depths_;
  double cost_ = 0;
  HalfTree half_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_SHALLOW_SEARCH_H_
