#include "topology/advice/network_capacity.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {

using Kind = NetworkCapacity::Kind;

std::vector<NumberedCapacity> CapacitiesOf(const NetworkView& view) {
  std::vector<NumberedCapacity> capacities;
  size_t number = 0;
  for (size_t i = 0; i < view.links().size(); ++i) {
    capacities.push_back({number++, {Kind::kLink, i}, view.links()[i].throughput_bps});
  }
  for (const auto& [kind, cap_bps] :
       {std::pair(Kind::kUp, &NetworkNode::up_cap_bps), {Kind::kDown, &NetworkNode::down_cap_bps}}) {
    for (size_t i = 0; i < view.nodes().size(); ++i, ++number) {
      const std::optional<double>& bps = view.nodes()[i].*cap_bps;
      if (bps.has_value()) capacities.push_back({number, {kind, i}, *bps});
    }
  }
  for (size_t i = 0; i < view.shared().size(); ++i) {
    capacities.push_back({number++, {Kind::kShared, i}, view.shared()[i].capacity_bps});
  }
  return capacities;
}

NetworkView WithCapacity(const NetworkView& view, const NetworkCapacity& capacity, double bps) {
  std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  std::vector<SharedCapacity> shared(view.shared().begin(), view.shared().end());
  switch (capacity.kind) {
    case Kind::kLink:
      links[capacity.position].throughput_bps = bps;
      break;
    case Kind::kUp:
      nodes[capacity.position].up_cap_bps = bps;
      break;
    case Kind::kDown:
      nodes[capacity.position].down_cap_bps = bps;
      break;
    case Kind::kShared:
      shared[capacity.position].capacity_bps = bps;
      break;
  }
  return *NetworkView::Create(std::move(nodes), std::move(links), std::move(shared));
}

std::string NameOf(const NetworkCapacity& capacity, const NetworkView& view) {
  const auto link_name = [&view](NodeId from, NodeId to) {
    return absl::StrCat(view.NameOf(from), " > ", view.NameOf(to));
  };
  switch (capacity.kind) {
    case Kind::kLink:
      return link_name(view.links()[capacity.position].from, view.links()[capacity.position].to);
    case Kind::kUp:
      return absl::StrCat(view.nodes()[capacity.position].name, " sends");
    case Kind::kDown:
      return absl::StrCat(view.nodes()[capacity.position].name, " receives");
    case Kind::kShared:
      break;
  }
  return absl::StrCat(
      absl::StrJoin(view.shared()[capacity.position].links, ", ",
                    [&](std::string* out, const auto& ends) { out->append(link_name(ends.first, ends.second)); }),
      " together");
}

}  // namespace banyan
