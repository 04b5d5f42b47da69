// Finds hosts whose links share what the host sends or receives at most. Pure functions.
#ifndef BANYAN_TOPOLOGY_INFERENCE_SHARED_GROUPS_H_
#define BANYAN_TOPOLOGY_INFERENCE_SHARED_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/ids.h"
#include "topology/inference/traffic_window.h"
#include "topology/network_view.h"

namespace banyan {

// Links with a capacity that they share.
struct SharedGroup {
  enum class Kind { kSent, kReceived };

  Kind kind = Kind::kSent;
  NodeId host;                // that sends or receives it all
  std::vector<size_t> links;  // by their numbers in the view, ascending
  double capacity_bps = 0;

  bool Has(size_t link) const { return std::binary_search(links.begin(), links.end(), link); }
};

// Returns all links that a host sends over (kSent) or receives over (kReceived).
std::vector<size_t> LinksOfHost(const NetworkView& view, NodeId host, SharedGroup::Kind kind);

// Returns what is shared at hosts of whose caps the view does not know, and of which five links or more were in use.
std::vector<SharedGroup> FindHostGroups(const NetworkView& view, const TrafficWindow& window);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_SHARED_GROUPS_H_
