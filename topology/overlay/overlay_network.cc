#include "topology/overlay/overlay_network.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

std::vector<LinkConfig> FullMesh(const std::vector<NodeConfig>& nodes) {
  std::vector<LinkConfig> links;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      links.emplace_back();
      links.back().a = nodes[i].name;
      links.back().b = nodes[j].name;
      links.back().has_rates = false;
    }
  }
  return links;
}

}  // namespace

absl::Status ValidateForJob(const OverlayConfig& overlay) {
  if (overlay.scheduler.address.empty()) {
    return ToStatus({{}, "scheduler.address is missing; running a job needs it, such as tcp://10.0.0.1:7700"},
                    overlay.file_name);
  }
  for (const NodeConfig& node : overlay.nodes) {
    if (!node.address.empty()) continue;
    return ToStatus({node.place, absl::StrCat("node '", node.name,
                                              "' has no address; running a job needs one for every node, such as "
                                              "tcp://10.0.1.1:7701")},
                    overlay.file_name);
  }
  return absl::OkStatus();
}

absl::Status ValidateForEmulation(const OverlayConfig& overlay) {
  if (!overlay.links.has_value()) {
    return ToStatus({{},
                     "links is missing; an emulated WAN needs the rate of every link, such as "
                     "links: [{between: [n1, n2], mbps: 100, delay_ms: 15}]"},
                    overlay.file_name);
  }
  for (const LinkConfig& link : *overlay.links) {
    if (link.has_rates) continue;
    return ToStatus({link.place, absl::StrCat("the link between '", link.a, "' and '", link.b,
                                              "' has no rate; an emulated WAN needs one, such as mbps: 100")},
                    overlay.file_name);
  }
  return absl::OkStatus();
}

OverlayConfig WithoutCaps(OverlayConfig overlay) {
  for (NodeConfig& node : overlay.nodes) {
    node.up_cap_bps.reset();
    node.down_cap_bps.reset();
  }
  overlay.shared.clear();
  return overlay;
}

NetworkView MakeNetworkView(const OverlayConfig& overlay) {
  std::map<std::string, NodeId> id_of;
  std::map<NodeId, double> price_of_node;
  std::vector<NetworkNode> nodes;
  for (const NodeConfig& node : overlay.nodes) {
    const NodeId id(static_cast<uint32_t>(nodes.size() + 1));
    id_of[node.name] = id;
    price_of_node[id] = node.price_per_gb;
    nodes.push_back({id, node.name, node.up_cap_bps, node.down_cap_bps, node.position});
  }
  std::vector<NetworkLink> links;
  for (const LinkConfig& link : overlay.links.has_value() ? *overlay.links : FullMesh(overlay.nodes)) {
    const NodeId a = id_of[link.a];
    const NodeId b = id_of[link.b];
    links.push_back({a, b, link.a_to_b_bps, link.delay, link.loss_fraction, LinkSource::kBelieved, !link.has_rates,
                     link.a_to_b_price_per_gb + price_of_node[a]});
    links.push_back({b, a, link.b_to_a_bps, link.delay, link.loss_fraction, LinkSource::kBelieved, !link.has_rates,
                     link.b_to_a_price_per_gb + price_of_node[b]});
  }
  std::vector<SharedCapacity> shared;
  for (const SharedConfig& config : overlay.shared) {
    SharedCapacity& capacity = shared.emplace_back(SharedCapacity{config.capacity_bps, {}});
    for (const auto& [from, to] : config.links) capacity.links.emplace_back(id_of[from], id_of[to]);
  }
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(nodes), std::move(links), std::move(shared));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

}  // namespace banyan
