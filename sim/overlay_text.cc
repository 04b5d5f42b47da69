#include "sim/overlay_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/units.h"
#include "topology/overlay/overlay_compression.h"
#include "topology/overlay/overlay_topology.h"

namespace banyan {
namespace {

const char* OpName(AggregationOp op) {
  switch (op) {
    case AggregationOp::kSum:
      return "sum";
    case AggregationOp::kMean:
      return "mean";
    case AggregationOp::kSgd:
      return "sgd";
    case AggregationOp::kMomentum:
      return "momentum";
    case AggregationOp::kNesterov:
      return "nesterov";
    case AggregationOp::kAdam:
      return "adam";
  }
  return "mean";
}

// As many digits as bring the same number back.
std::string Number(double value) { return absl::StrFormat("%.17g", value); }

const char* Word(bool value) { return value ? "true" : "false"; }

template <typename T>
std::string Or(const std::optional<T>& value, const char* word) {
  return value.has_value() ? absl::StrCat(*value) : word;
}

std::string NodeText(const NodeConfig& node) {
  std::string text = absl::StrCat("- {name: ", node.name, ", workers: ", node.workers);
  if (!node.address.empty()) absl::StrAppend(&text, ", address: \"", node.address, "\"");
  if (!node.listen.empty()) absl::StrAppend(&text, ", listen: \"", node.listen, "\"");
  if (node.up_cap_bps.has_value()) absl::StrAppend(&text, ", up_mbps: ", Number(*node.up_cap_bps / kBitsPerMegabit));
  if (node.down_cap_bps.has_value()) {
    absl::StrAppend(&text, ", down_mbps: ", Number(*node.down_cap_bps / kBitsPerMegabit));
  }
  if (node.price_per_gb > 0) absl::StrAppend(&text, ", price_per_gb: ", Number(node.price_per_gb));
  return text + "}\n";
}

std::string LinkText(const LinkConfig& link) {
  return absl::StrCat("- {between: [", link.a, ", ", link.b, "], mbps: [", Number(link.a_to_b_bps / kBitsPerMegabit),
                      ", ", Number(link.b_to_a_bps / kBitsPerMegabit),
                      "], delay_ms: ", Number(absl::ToDoubleMilliseconds(link.delay)),
                      ", loss_percent: ", Number(100 * link.loss_fraction), ", price_per_gb: [",
                      Number(link.a_to_b_price_per_gb), ", ", Number(link.b_to_a_price_per_gb), "]}\n");
}

std::string SharedText(const SharedConfig& shared) {
  const auto format = [](std::string* text, const std::pair<std::string, std::string>& link) {
    absl::StrAppend(text, "[", link.first, ", ", link.second, "]");
  };
  return absl::StrCat("- {links: [", absl::StrJoin(shared.links, ", ", format),
                      "], mbps: ", Number(shared.capacity_bps / kBitsPerMegabit), "}\n");
}

std::string NetworkText(const OverlayConfig& overlay) {
  std::string text = absl::StrCat("job: ", overlay.job, "\n");
  if (!overlay.scheduler.address.empty()) {
    absl::StrAppend(&text, "scheduler: {address: \"", overlay.scheduler.address, "\"");
    if (!overlay.scheduler.http.empty()) absl::StrAppend(&text, ", http: \"", overlay.scheduler.http, "\"");
    absl::StrAppend(&text, "}\n");
  }
  absl::StrAppend(&text, "nodes:\n");
  for (const NodeConfig& node : overlay.nodes) absl::StrAppend(&text, NodeText(node));
  if (overlay.links.has_value()) absl::StrAppend(&text, "links:\n");
  for (const LinkConfig& link : overlay.links.value_or(std::vector<LinkConfig>())) {
    absl::StrAppend(&text, LinkText(link));
  }
  if (!overlay.shared.empty()) absl::StrAppend(&text, "shared:\n");
  for (const SharedConfig& shared : overlay.shared) absl::StrAppend(&text, SharedText(shared));
  return text;
}

std::string TopologyText(const TopologyConfig& topology) {
  std::string text = absl::StrCat("topology: {planner: ", topology.planner);
  // What says nothing to the planner is refused.
  const auto append = [&](absl::string_view key, const std::string& value) {
    if (UseFault(key, topology.planner).empty()) absl::StrAppend(&text, ", ", key, ": ", value);
  };
  append("roots", Or(topology.roots, "all"));
  if (topology.root.has_value()) append("root", *topology.root);
  append("k", absl::StrCat(topology.arity));
  if (topology.budget_per_round.has_value()) append("budget_per_round", Number(*topology.budget_per_round));
  append("shares", topology.shares == ShareRule::kBalanced ? "balanced" : "quality");
  return absl::StrCat(text, ", update_seconds: ", Number(absl::ToDoubleSeconds(topology.update_interval)),
                      ", update_rate: ", Number(topology.update_rate), "}\n");
}

const char* RuleName(NotFiniteRule rule) {
  switch (rule) {
    case NotFiniteRule::kKeep:
      return "keep";
    case NotFiniteRule::kSkip:
      return "skip";
    case NotFiniteRule::kFail:
      return "fail";
  }
  return "keep";
}

std::string AggregationText(const AggregationConfig& aggregation) {
  return absl::StrCat("aggregation: {op: ", OpName(aggregation.op), ", quorum: ", Number(aggregation.quorum),
                      ", grace_seconds: ", Number(absl::ToDoubleSeconds(aggregation.grace)),
                      ", not_finite: ", RuleName(aggregation.not_finite),
                      ", order: ", aggregation.fixed_order ? "fixed" : "arrival", "}\n");
}

std::string TrimmingText(const TrimmingConfig& trimming) {
  std::string text = absl::StrCat("trimming: {policy: ", NameOf(trimming.policy));
  if (trimming.policy == TrimPolicyKind::kQueue) absl::StrAppend(&text, ", queue_bytes: ", trimming.queue_bytes);
  if (trimming.policy == TrimPolicyKind::kRandom) absl::StrAppend(&text, ", share: ", Number(trimming.share));
  return text + "}\n";
}

}  // namespace

std::string WriteOverlay(const OverlayConfig& overlay) {
  const TransportConfig& transport = overlay.transport;
  const MembershipConfig& membership = overlay.membership;
  return absl::StrCat(
      NetworkText(overlay), TopologyText(overlay.topology), "awareness: {enabled: ", Word(overlay.awareness.enabled),
      ", probe_chunk_bytes: ", overlay.awareness.probe_chunk_bytes, ", probe_chunks: ", overlay.awareness.probe_chunks,
      ", estimator: ", NameOf(overlay.awareness.estimator), "}\n",
      "multipath: {enabled: ", Word(overlay.multipath.enabled),
      ", primary_busy_bound: ", overlay.multipath.primary_busy_bound,
      ", auxiliary_queue_length: ", overlay.multipath.auxiliary_queue_length, "}\n",
      "chunks: {max_elements: ", overlay.chunks.max_elements, ", min_elements: ", overlay.chunks.min_elements, "}\n",
      AggregationText(overlay.aggregation), CompressionText(overlay.compression), TrimmingText(overlay.trimming),
      "transport: {connections: ", Or(transport.connections, "auto"),
      ", bytes_per_connection: ", transport.bytes_per_connection,
      ", window_bytes: ", Or(transport.window_bytes, "auto"), ", early_bytes: ", transport.early_bytes,
      ", relay_bytes: ", transport.relay_bytes, "}\n", "membership: {start_with: ", Or(membership.start_with, "all"),
      ", heartbeat_seconds: ", Number(absl::ToDoubleSeconds(membership.heartbeat)),
      ", lost_after_seconds: ", Number(absl::ToDoubleSeconds(membership.lost_after)), "}\n",
      "policy: {lease_seconds: ", Number(absl::ToDoubleSeconds(overlay.policy.lease)),
      ", rounds_in_flight: ", overlay.policy.rounds_in_flight, "}\n");
}

}  // namespace banyan
