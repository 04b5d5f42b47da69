#include "wan/wan_status.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/json_writer.h"
#include "proto/field_json_reader.h"

namespace banyan {
const WanStatus::Node* WanStatus::FindNode(absl::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

const WanStatus::Link* WanStatus::FindLink(absl::string_view from, absl::string_view to) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.from == from && link.to == to; });
  return found == links.end() ? nullptr : &*found;
}

std::string WanStatusJson(WanStatus status, const std::string& state) {
  JsonWriter json;
  json.BeginObject().Name("state").String(state);
  JsonFieldWriter fields(json);
  Fields(fields, status);
  return json.EndObject().text();
}

absl::StatusOr<WanStatus> ParseWanStatus(absl::string_view json) {
  absl::StatusOr<WanStatus> status = ParseJsonFields<WanStatus>(json, "the status of an emulated WAN", "forwarder");
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(status.status().message(), "; is it of another version of banyan?"));
}

std::string WanStatusText(const WanStatus& status) {
  std::string text = absl::StrFormat(
      "overlay    %s, %d nodes, %d directed links\nforwarder  process %d for %.0f s, %.2f s of a core\n\n",
      status.overlay, status.nodes.size(), status.links.size(), status.pid, status.uptime_seconds,
      status.forwarder.cpu_seconds);
  for (const WanStatus::Node& node : status.nodes) absl::StrAppendFormat(&text, "%-10s %s\n", node.name, node.address);
  absl::StrAppendFormat(&text, "\n%-16s %9s %8s %7s %10s %8s %8s %10s\n", "link", "Mbit/s", "delay ms", "loss %", "MB",
                        "lost", "dropped", "queue KB");
  for (const WanStatus::Link& link : status.links) {
    absl::StrAppendFormat(&text, "%-16s %9.1f %8.1f %7.3f %10.2f %8d %8d %10.1f%s\n",
                          absl::StrCat(link.from, " to ", link.to), link.mbps, link.delay_ms, link.loss_percent,
                          static_cast<double>(link.bytes) / 1e6, link.lost_packets, link.dropped_packets,
                          static_cast<double>(link.queued_bytes) / 1e3, link.is_cut ? "  cut" : "");
    if (link.trimmed_packets > 0) text.insert(text.size() - 1, absl::StrCat("  ", link.trimmed_packets, " trimmed"));
  }
  return text;
}

}  // namespace banyan
