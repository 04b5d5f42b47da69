#include "sim/overlay_scaling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// A byte stands for so many, and each may be lost.
constexpr double kMostLoss = 0.999;

}  // namespace

OverlayConfig ScaleOverlay(OverlayConfig overlay, int64_t scale) {
  BANYAN_CHECK(scale >= 1);
  const auto divide = [scale](int64_t value) { return value == 0 ? 0 : std::max<int64_t>(1, value / scale); };
  overlay.chunks.max_elements = divide(overlay.chunks.max_elements);
  const int64_t least = std::min(kLeastCarriedElements, overlay.chunks.min_elements);
  overlay.chunks.min_elements = std::max(least, divide(overlay.chunks.min_elements));
  overlay.compression.least_elements = divide(overlay.compression.least_elements);
  if (overlay.transport.window_bytes.has_value()) {
    overlay.transport.window_bytes = divide(*overlay.transport.window_bytes);
  }
  overlay.transport.bytes_per_connection = divide(overlay.transport.bytes_per_connection);
  overlay.awareness.probe_chunk_bytes = divide(overlay.awareness.probe_chunk_bytes);
  overlay.transport.early_bytes = divide(overlay.transport.early_bytes);
  overlay.transport.relay_bytes = divide(overlay.transport.relay_bytes);
  if (!overlay.links.has_value()) {
    overlay.links.emplace();
    for (size_t i = 0; i < overlay.nodes.size(); ++i) {
      for (size_t j = i + 1; j < overlay.nodes.size(); ++j) {
        LinkConfig& link = overlay.links->emplace_back();
        link.a = overlay.nodes[i].name;
        link.b = overlay.nodes[j].name;
        link.has_rates = false;
      }
    }
  }
  for (LinkConfig& link : *overlay.links) {
    link.a_to_b_bps /= static_cast<double>(scale);
    link.b_to_a_bps /= static_cast<double>(scale);
    link.loss_fraction = std::min(kMostLoss, link.loss_fraction * static_cast<double>(scale));
  }
  // A round carries less by as much.
  std::optional<double>& budget = overlay.topology.budget_per_round;
  if (budget.has_value()) budget = *budget / static_cast<double>(scale);
  for (SharedConfig& shared : overlay.shared) shared.capacity_bps /= static_cast<double>(scale);
  if (overlay.scheduler.address.empty()) overlay.scheduler.address = "tcp://scheduler:7700";
  for (NodeConfig& node : overlay.nodes) {
    if (node.up_cap_bps.has_value()) node.up_cap_bps = *node.up_cap_bps / static_cast<double>(scale);
    if (node.down_cap_bps.has_value()) node.down_cap_bps = *node.down_cap_bps / static_cast<double>(scale);
    if (node.address.empty()) node.address = absl::StrCat("tcp://", node.name, ":7701");
  }
  return overlay;
}

}  // namespace banyan
