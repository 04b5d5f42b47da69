// The path that a tree edge takes: its link, or else the path of fewest hops, among those the one whose slowest link is
// fastest, among those the lower ids. Thread-compatible; the view must outlive it. Paths of a source are found when
// first asked for.
#ifndef BANYAN_TOPOLOGY_ROUTE_TABLE_H_
#define BANYAN_TOPOLOGY_ROUTE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

class RouteTable {
 public:
  explicit RouteTable(const NetworkView* view);

  const NetworkView& view() const { return *view_; }

  // Both nodes are of the view, and a path exists (NetworkView::CheckConnected).
  Route Find(NodeId from, NodeId to);
  // Seconds per bit: the sum of 1/throughput along the path.
  double Delay(NodeId from, NodeId to);

 private:
  // The paths from one node, by position in view.nodes(). Empty until asked for.
  struct FromSource {
    std::vector<uint32_t> previous;
    std::vector<double> delay;
  };

  const FromSource& PathsFrom(size_t source);
  FromSource Search(size_t source) const;

  const NetworkView* view_;
  std::vector<FromSource> sources_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ROUTE_TABLE_H_
