// What links can be expected to reach where hosts have caps. Pure function.
#ifndef BANYAN_TOPOLOGY_CAPPED_RATES_H_
#define BANYAN_TOPOLOGY_CAPPED_RATES_H_

#include <map>
#include <utility>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// By the ends of a link, bits per second.
using CappedRates = std::map<std::pair<NodeId, NodeId>, double>;

// What a link reaches while both its ends use all links as the trees do, for those links where a cap makes that less
// than the link's rate: of its ends' caps the part that the trees give it, nothing where no tree uses it. REQUIRES: the
// policy is valid for the view.
CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_CAPPED_RATES_H_
