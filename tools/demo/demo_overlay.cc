#include "tools/demo/demo_overlay.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "topology/overlay/overlay_yaml.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

constexpr char kInternet2[] =
#include "tools/demo/demo_overlay_text.inc"
    ;

constexpr char kJob[] = "fashion-mnist";
// The model has a few hundred thousand parameters: this gives each of a dozen trees a part of it.
constexpr int kChunkMaxElements = 8192;
// All data centres share one machine, where a process may have to wait for a processor.
constexpr int kLostAfterSeconds = 30;
constexpr double kHeartbeatPart = 0.25;
constexpr double kLongestHeartbeatSeconds = 1;

}  // namespace

absl::string_view DefaultDemoOverlay() { return kInternet2; }

absl::StatusOr<std::vector<DemoNode>> ReadDemoNodes(absl::string_view text, absl::string_view file_name) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, file_name);
  if (!overlay.ok()) return overlay.status();
  if (overlay->aggregation.op != AggregationOp::kMean) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": the demo trains with 'aggregation: {op: mean}'; leave out the other one"));
  }
  std::vector<DemoNode> nodes;
  for (const NodeConfig& node : overlay->nodes) nodes.push_back({node.name, node.workers});
  return nodes;
}

std::string FillLostAfter(absl::string_view text, absl::Duration lost_after) {
  YAML::Node overlay = YAML::Load(std::string(text));
  const double seconds = absl::ToDoubleSeconds(lost_after);
  overlay["membership"]["lost_after_seconds"] = seconds;
  overlay["membership"]["heartbeat_seconds"] = std::min(kLongestHeartbeatSeconds, kHeartbeatPart * seconds);
  return absl::StrCat(YAML::Dump(overlay), "\n");
}

absl::Duration LostAfterOf(absl::string_view text) {
  if (!YAML::Load(std::string(text))["membership"]) return absl::Seconds(kLostAfterSeconds);
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "");
  BANYAN_CHECK(overlay.ok());
  return overlay->membership.lost_after;
}

std::string FillAddresses(absl::string_view text, const std::string& scheduler_address,
                          const std::vector<std::string>& node_addresses) {
  YAML::Node overlay = YAML::Load(std::string(text));
  overlay["scheduler"]["address"] = scheduler_address;
  BANYAN_CHECK(overlay["nodes"].size() == node_addresses.size());
  for (size_t i = 0; i < node_addresses.size(); ++i) {
    YAML::Node node = overlay["nodes"][i];
    node["address"] = node_addresses[i];
    node.remove("listen");
  }
  if (!overlay["job"]) overlay["job"] = kJob;
  if (!overlay["chunks"]) overlay["chunks"]["max_elements"] = kChunkMaxElements;
  if (!overlay["membership"]) overlay["membership"]["lost_after_seconds"] = kLostAfterSeconds;
  return absl::StrCat(YAML::Dump(overlay), "\n");
}

}  // namespace banyan
