// The overlay as the packing of trees sees it: nodes and links by number, and the capacity of everything that a tree
// loads. An immutable value; thread-compatible; independent of the view that it was made of.
#ifndef BANYAN_TOPOLOGY_PACKING_CAPACITY_GRAPH_H_
#define BANYAN_TOPOLOGY_PACKING_CAPACITY_GRAPH_H_

#include <cstddef>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "topology/network_view.h"

namespace banyan {

// What no rate, price or cut reaches.
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// From one node to another, by their numbers.
struct Arc {
  size_t from = 0;
  size_t to = 0;
};

// Nodes and links have the numbers of their positions in the view. What can be full is numbered too: first the links,
// then what every node sends, then what every node receives, then what links share.
class CapacityGraph {
 public:
  explicit CapacityGraph(const NetworkView& view);

  size_t nodes() const { return nodes_; }
  const std::vector<Arc>& links() const { return links_; }
  // Returns the capacities by the number of what can be full; infinite where a node has no cap.
  const std::vector<double>& capacities_bps() const { return capacities_bps_; }
  size_t Up(size_t node) const { return links_.size() + node; }
  size_t Down(size_t node) const { return links_.size() + nodes_ + node; }
  // Returns the number of the first of view.shared(); the others follow.
  size_t Shared() const { return links_.size() + 2 * nodes_; }

  // Calls `f` with the number of each thing that a link loads.
  template <typename F>
  void ForEachLoaded(size_t link, F f) const {
    f(link);
    f(Up(links_[link].from));
    f(Down(links_[link].to));
    for (size_t i = first_shared_[link]; i < first_shared_[link + 1]; ++i) f(shared_by_[i]);
  }

  // Adds `volume` to all that a path or tree over these links loads.
  void AddLoad(absl::Span<const size_t> links, double volume, std::vector<double>& loads) const;
  // Sets `costs` to what a bit over each link costs at `prices`: the link's own price, and the prices of what its
  // sender sends, its receiver receives and it shares.
  void LinkCosts(absl::Span<const double> prices, std::vector<double>& costs) const;

 private:
  size_t nodes_ = 0;
  std::vector<Arc> links_;
  std::vector<double> capacities_bps_;
  std::vector<size_t> shared_by_;     // numbers, by link
  std::vector<size_t> first_shared_;  // of each link in shared_by_; one more entry than links
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_CAPACITY_GRAPH_H_
