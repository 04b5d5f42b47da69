// The cheapest spanning arborescences of a directed graph, for every root at once (Edmonds, "Optimum branchings", 1967;
// contraction along a growing path as in Gabow, Galil, Spencer and Tarjan, "Efficient algorithms for finding minimum
// spanning trees in undirected and directed graphs", 1986). Sets of nodes are contracted until one is left, whatever
// the root; a root then says how to open them. Thread-compatible. Keeps its memory from one search to the next.
#ifndef BANYAN_TOPOLOGY_PACKING_ARBORESCENCE_H_
#define BANYAN_TOPOLOGY_PACKING_ARBORESCENCE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "proto/half.h"
#include "topology/packing/capacity_graph.h"

namespace banyan {

class ArborescenceFinder {
 public:
  // Makes a finder of arborescences whose paths lead to the root (`half` is kReduce) or from it.
  // REQUIRES: at least one node, and every node reaches every other over the links.
  ArborescenceFinder(size_t nodes, absl::Span<const Arc> links, Half half);

  // O(links * log(links)). `costs` are by link, finite, of any sign. REQUIRES: one for each link.
  void Search(absl::Span<const double> costs);

  // The cheapest arborescence of the root under the costs of the last search; O(1).
  double Cost(size_t root) const { return costs_[root]; }
  // Its links, ascending; O(nodes * log(nodes)). Of equally cheap ones always the same.
  std::vector<size_t> Links(size_t root) const;

 private:
  static constexpr int32_t kNone = -1;

  // A link in the heap of those that enter a set: a leftist heap (Crane 1972) in which a decrease of all costs waits
  // at the top until someone looks below.
  struct Entry {
    double cost = 0;
    double change = 0;  // for everything below
    int32_t left = kNone;
    int32_t right = kNone;
    int32_t rank = 1;
  };

  // A node, or nodes that were contracted.
  struct Set {
    int32_t heap = kNone;      // of links that enter it
    int32_t entering = kNone;  // the cheapest link from outside
    double cost = 0;           // of that link, less what its end within the set pays already
    int32_t parent = kNone;
    int32_t first_child = kNone;
    int32_t next_sibling = kNone;
  };

  void PushDown(Entry& entry);
  void Change(int32_t heap, double by);
  int32_t Merge(int32_t a, int32_t b);
  int32_t HeapOf(absl::Span<const int32_t> links);
  // The set that nothing has contracted yet and that holds the node or set.
  int32_t Outermost(int32_t set);
  // Finds the cheapest link from outside; false when there is none.
  bool ChooseEntering(int32_t set);
  // Contracts the cycle of entering links that starts and ends at the set.
  int32_t Contract(int32_t last);
  void SumCosts(int32_t whole);

  size_t nodes_;
  std::vector<int32_t> tails_;     // by link; on the root's side
  std::vector<int32_t> heads_;     // by link
  std::vector<int32_t> incoming_;  // links by head
  std::vector<size_t> first_incoming_;
  std::vector<Entry> entries_;  // by link
  std::vector<Set> sets_;       // the nodes first
  std::vector<int32_t> outer_;  // by set; short cuts to what contains it
  std::vector<int32_t> queue_;
  std::vector<double> costs_;  // by root
  int32_t whole_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_ARBORESCENCE_H_
