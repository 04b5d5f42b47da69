// Finds links that go by way of others. Where every pair of nodes may have a link, many of these are routes over the
// same wires: packets from Seattle to Denver pass Salt Lake City. Delays tell which, and what links carry tells whether
// it is so. Pure functions.
//
// Rules:
//   1. A link may go by way of another when its delay is that of the way over it, up to kDetour. Ways with hops whose
//      delay nobody has measured count for nothing.
//   2. What goes over a link together is no more than the link carries by itself. Where it was more, the two share
//      nothing. That needs to have been seen while both were busy, or twice, and also the link busy by itself, some
//      times: its pace may have been growing.
//   3. A link's own measurements say what the others left to it. It carries what went over it together while it was
//      busy, which is its own rate again once nothing else goes over it.
//
// So a plan takes a link for as fast as all together were, uses it, and learns whether that is so within a round.
#ifndef BANYAN_TOPOLOGY_INFERENCE_SHARED_WAYS_H_
#define BANYAN_TOPOLOGY_INFERENCE_SHARED_WAYS_H_

#include <cstddef>
#include <vector>

#include "topology/inference/traffic_window.h"
#include "topology/network_view.h"

namespace banyan {

// A link, by its number in the view, and those that go by way of it.
struct SharedWay {
  size_t link = 0;
  std::vector<size_t> over;         // the others, ascending
  std::vector<size_t> surely_over;  // of them: no other way is as short
  double rate_bps = 0;              // of all together
  bool is_known = false;            // it was busy while nothing else went over it
};

// Returns the links that others go by way of, as far as delays tell (rule 1). The rates are the links' own.
std::vector<SharedWay> WaysByDelay(const NetworkView& view);

// Returns the same less what traffic contradicts, with the rates that it tells (rules 2 and 3).
std::vector<SharedWay> FindSharedWays(const NetworkView& view, const TrafficWindow& window);

// Returns `view` with what the links of these ways share, and with the links' rates.
NetworkView WithSharedWays(const NetworkView& view, const std::vector<SharedWay>& ways);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_SHARED_WAYS_H_
