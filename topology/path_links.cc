#include "topology/path_links.h"

namespace banyan {

std::optional<std::vector<size_t>> LinksOfPath(const std::vector<NodeId>& path, const NetworkView& view) {
  std::vector<size_t> links;
  for (size_t i = 1; i < path.size(); ++i) {
    const NetworkLink* link = view.FindLink(path[i - 1], path[i]);
    if (link == nullptr) return std::nullopt;
    links.push_back(static_cast<size_t>(link - view.links().data()));
  }
  return links;
}

}  // namespace banyan
