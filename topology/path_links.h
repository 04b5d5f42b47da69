// The links of a path. Pure function.
#ifndef BANYAN_TOPOLOGY_PATH_LINKS_H_
#define BANYAN_TOPOLOGY_PATH_LINKS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

// The positions in view.links() of a path's hops, in order; empty when one of them is no link of the view.
std::optional<std::vector<size_t>> LinksOfPath(const std::vector<NodeId>& path, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PATH_LINKS_H_
