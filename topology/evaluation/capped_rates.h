// Computes the rates that links can be expected to reach where hosts have caps and links share. Pure function.
#ifndef BANYAN_TOPOLOGY_EVALUATION_CAPPED_RATES_H_
#define BANYAN_TOPOLOGY_EVALUATION_CAPPED_RATES_H_

#include <map>
#include <utility>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Rates by the ends of a link, in bits per second.
using CappedRates = std::map<std::pair<NodeId, NodeId>, double>;

// Returns what a link reaches while both its ends use all links as the trees do. Only those links are in it where a
// cap, or what links share, makes that less than the link's rate. Their rate is the part of it that the trees give
// them, 0 where no tree uses the link. REQUIRES: `policy` is valid for `view`.
CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_CAPPED_RATES_H_
