#include "scheduler/policy/overlay_change.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"
#include "proto/session_messages.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// Chunks of another size must still fit into the nodes' rooms, which are as large as when they joined.
constexpr int64_t kFloatBytes = 4;
constexpr int64_t kChunksByDefault = 64;

constexpr char kRestart[] = "put it back, or stop the job and start it with the new file";

std::string Text(const std::string& value) { return value.empty() ? "(none)" : value; }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(int value) { return absl::StrCat(value); }
std::string Text(double value) { return absl::StrFormat("%.6g", value); }
// As many digits as tell it from all other numbers.
std::string Exactly(double value) {
  char digits[32] = {};
  return std::string(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
}
std::string Exactly(absl::Duration value) { return absl::FormatDuration(value); }
std::string Text(ShareRule value) { return value == ShareRule::kQuality ? "quality" : "balanced"; }
std::string Text(RateEstimator value) { return NameOf(value); }
std::string Text(absl::Duration value) { return absl::FormatDuration(value); }
template <typename T>
std::string Text(const std::optional<T>& value) {
  return value.has_value() ? Text(*value) : "(default)";
}

bool SameTree(const CustomTreeConfig& a, const CustomTreeConfig& b) {
  return a.root == b.root && a.share == b.share && a.reduce == b.reduce && a.broadcast == b.broadcast;
}

class Comparison {
 public:
  // May differ.
  template <typename T>
  void Free(const std::string& field, const T& was, const T& is) {
    if (was != is) changes_.push_back(absl::StrCat(field, ": ", Text(was), " -> ", Text(is)));
  }
  // May not.
  template <typename T>
  void Fixed(const std::string& field, const T& was, const T& is, const char* advice = kRestart) {
    if (was != is) Refuse(field, absl::StrCat("from ", Text(was), " to ", Text(is)), advice);
  }
  void Refuse(const std::string& field, const std::string& how, const char* advice = kRestart) {
    if (!refusal_.ok()) return;
    refusal_ =
        absl::FailedPreconditionError(absl::StrCat(field, " cannot change while the job runs (", how, "): ", advice));
  }
  void Changed(std::string line) { changes_.push_back(std::move(line)); }

  bool refused() const { return !refusal_.ok(); }
  absl::StatusOr<std::vector<std::string>> Take() {
    if (!refusal_.ok()) return refusal_;
    return std::move(changes_);
  }

 private:
  absl::Status refusal_;
  std::vector<std::string> changes_;
};

void CompareNodes(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  if (was.nodes.size() > is.nodes.size()) {
    return comparison.Refuse("nodes", absl::StrCat("from ", was.nodes.size(), " to ", is.nodes.size(), " nodes"),
                             "leave all nodes in the file, and use `banyan remove` for one that shall go");
  }
  for (size_t i = 0; i < was.nodes.size(); ++i) {
    const NodeConfig& a = was.nodes[i];
    const NodeConfig& b = is.nodes[i];
    const std::string node = absl::StrCat("nodes[", i, "] (", a.name, ").");
    comparison.Fixed(node + "name", a.name, b.name);
    comparison.Fixed(node + "address", a.address, b.address);
    comparison.Fixed(node + "listen", a.listen, b.listen);
    comparison.Fixed(node + "up_mbps", a.up_cap_bps, b.up_cap_bps);
    comparison.Fixed(node + "down_mbps", a.down_cap_bps, b.down_cap_bps);
    comparison.Free(node + "public_key", a.public_key, b.public_key);
  }
  for (size_t i = was.nodes.size(); i < is.nodes.size(); ++i) {
    comparison.Changed(absl::StrCat("nodes: ", is.nodes[i].name, " is new"));
  }
}

void CompareLinks(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  const NetworkView before = MakeNetworkView(was);
  const NetworkView after = MakeNetworkView(is);
  for (const NetworkLink& link : after.links()) {
    const std::string name = absl::StrCat("links[", after.NameOf(link.from), " to ", after.NameOf(link.to), "]");
    const NetworkLink* const old = before.FindLink(link.from, link.to);
    const bool is_of_new_node = std::max(link.from, link.to).value() > was.nodes.size();
    if (old == nullptr && !is_of_new_node) return comparison.Refuse(name, "it is new");
    if (old == nullptr) continue;
    comparison.Free(name + ".mbps", old->throughput_bps / 1e6, link.throughput_bps / 1e6);
    comparison.Free(name + ".delay_ms", absl::ToDoubleMilliseconds(old->delay), absl::ToDoubleMilliseconds(link.delay));
    comparison.Free(name + ".loss_percent", old->loss_fraction * 100, link.loss_fraction * 100);
    comparison.Free(name + ".price_per_gb", old->price_per_gb, link.price_per_gb);
  }
  for (const NetworkLink& link : before.links()) {
    if (after.FindLink(link.from, link.to) != nullptr) continue;
    return comparison.Refuse(absl::StrCat("links[", before.NameOf(link.from), " to ", before.NameOf(link.to), "]"),
                             "it is missing");
  }
}

void CompareShared(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  const bool is_same = std::equal(was.shared.begin(), was.shared.end(), is.shared.begin(), is.shared.end(),
                                  [](const SharedConfig& a, const SharedConfig& b) {
                                    return a.capacity_bps == b.capacity_bps && a.links == b.links;
                                  });
  if (!is_same) comparison.Changed(absl::StrCat("shared: ", is.shared.size(), " entries"));
}

void CompareTopology(const TopologyConfig& was, const TopologyConfig& is, Comparison& comparison) {
  comparison.Free<std::string>("topology.planner", was.planner, is.planner);
  comparison.Free("topology.roots", was.roots, is.roots);
  comparison.Free("topology.root", was.root, is.root);
  comparison.Free("topology.shares", was.shares, is.shares);
  comparison.Free("topology.k", was.arity, is.arity);
  comparison.Free("topology.budget_per_round", was.budget_per_round, is.budget_per_round);
  comparison.Free("topology.update_seconds", was.update_interval, is.update_interval);
  comparison.Free("topology.update_rate", was.update_rate, is.update_rate);
  if (!std::equal(was.trees.begin(), was.trees.end(), is.trees.begin(), is.trees.end(), SameTree)) {
    comparison.Changed(absl::StrCat("topology.trees: ", is.trees.size(), " custom trees"));
  }
}

void CompareChunks(const OverlayConfig& was, const OverlayConfig& is, int64_t element_bytes, Comparison& comparison) {
  const int64_t elements = is.chunks.max_elements;
  comparison.Free("chunks.max_elements", was.chunks.max_elements, elements);
  comparison.Free("chunks.min_elements", was.chunks.min_elements, is.chunks.min_elements);
  // As nodes do (node/peers/peer_network.cc).
  const int64_t by_default = kChunksByDefault * was.chunks.max_elements * kFloatBytes;
  const int64_t room = std::min(was.transport.relay_bytes > 0 ? was.transport.relay_bytes : by_default,
                                was.transport.early_bytes > 0 ? was.transport.early_bytes : by_default);
  if (elements > was.chunks.max_elements && elements * element_bytes > room) {
    comparison.Refuse("chunks.max_elements",
                      absl::StrCat("a chunk of ", elements * element_bytes, " bytes does not fit into the ", room,
                                   " of transport.relay_bytes and transport.early_bytes"),
                      "make it smaller");
  }
}

const char* NameOf(NotFiniteRule rule) {
  return rule == NotFiniteRule::kKeep ? "keep" : rule == NotFiniteRule::kSkip ? "skip" : "fail";
}

void AddAggregation(const AggregationConfig& config, JobSettings& settings) {
  settings["aggregation.op"] = std::string(NameOf(config.op));
  settings["aggregation.learning_rate"] = Exactly(config.learning_rate);
  settings["aggregation.momentum"] = Exactly(config.momentum);
  settings["aggregation.beta1"] = Exactly(config.beta1);
  settings["aggregation.beta2"] = Exactly(config.beta2);
  settings["aggregation.epsilon"] = Exactly(config.epsilon);
  settings["aggregation.weight_decay"] = Exactly(config.weight_decay);
  settings["aggregation.not_finite"] = NameOf(config.not_finite);
  settings["aggregation.quorum"] = Exactly(config.quorum);
  settings["aggregation.grace_seconds"] = Exactly(config.grace);
  settings["aggregation.order"] = config.fixed_order ? "fixed" : "arrival";
}

std::string TextOf(const CompressionRule& rule) {
  std::string text = absl::StrCat(rule.keys, ": ", TraitsOf(rule.codec)->name, ", ", NameOf(rule.controller));
  for (const ControllerNumber& number : rule.numbers) {
    absl::StrAppend(&text, ", ", number.name, " ", Exactly(number.value));
  }
  if (rule.selection == TopKSelection::kSampled) absl::StrAppend(&text, ", sampled");
  if (rule.error_feedback.has_value()) absl::StrAppend(&text, ", error_feedback ", Text(*rule.error_feedback));
  return text;
}

void AddCompression(const CompressionConfig& config, JobSettings& settings) {
  settings["compression.least_elements"] = absl::StrCat(config.least_elements);
  settings["compression.rules"] = Text(
      absl::StrJoin(config.rules, "; ", [](std::string* out, const CompressionRule& rule) { *out += TextOf(rule); }));
}

void AddTransport(const TransportConfig& config, JobSettings& settings) {
  settings["transport.connections"] = Text(config.connections);
  settings["transport.bytes_per_connection"] = Text(config.bytes_per_connection);
  settings["transport.window_bytes"] = Text(config.window_bytes);
  settings["transport.early_bytes"] = Text(config.early_bytes);
  settings["transport.relay_bytes"] = Text(config.relay_bytes);
}

void AddMembership(const MembershipConfig& config, JobSettings& settings) {
  settings["membership.start_with"] = Text(config.start_with);
  settings["membership.heartbeat_seconds"] = Exactly(config.heartbeat);
  settings["membership.lost_after_seconds"] = Exactly(config.lost_after);
  settings["membership.scheduler_lost_after_seconds"] = Exactly(config.scheduler_lost_after);
  settings["membership.least"] = Text(config.least);
}

// The votes that a profile asks for, which the file itself does not say.
void AddVotes(const VoteRules& rules, JobSettings& settings) {
  settings["precision.profile (its votes)"] = absl::StrCat(
      "family ", static_cast<int>(rules.family), ", gate ", static_cast<int>(rules.gate), ", sender_threshold ",
      Exactly(rules.sender_threshold), ", result_margin ", Exactly(rules.result_margin), ", aggregate ",
      static_cast<int>(rules.aggregate), ", tie ", static_cast<int>(rules.tie));
}

// Calls `differs` with the name and the two values of the first setting that both have and that differs.
template <typename Differs>
void FindDifference(const JobSettings& was, const JobSettings& is, const Differs& differs) {
  for (const auto& [name, value] : was) {
    const auto found = is.find(name);
    if (found != is.end() && found->second != value) return differs(name, value, found->second);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CompareOverlays(const OverlayConfig& running, const OverlayConfig& wanted,
                                                         int64_t element_bytes) {
  Comparison comparison;
  comparison.Fixed("job", running.job, wanted.job);
  comparison.Fixed("scheduler.addresses", absl::StrJoin(running.scheduler.addresses, ","),
                   absl::StrJoin(wanted.scheduler.addresses, ","));
  comparison.Fixed("scheduler.etcd", absl::StrJoin(running.scheduler.etcd, ","),
                   absl::StrJoin(wanted.scheduler.etcd, ","));
  comparison.Fixed("scheduler.lease_seconds", running.scheduler.lease, wanted.scheduler.lease);
  comparison.Fixed("scheduler.http", running.scheduler.http, wanted.scheduler.http);
  comparison.Fixed("scheduler.public_key", running.scheduler.public_key, wanted.scheduler.public_key);
  if (running.operators != wanted.operators) comparison.Changed("operators: other names or keys");
  if (running.observers != wanted.observers) comparison.Changed("observers: other names or keys");
  CompareNodes(running, wanted, comparison);
  if (comparison.refused()) return comparison.Take();
  CompareLinks(running, wanted, comparison);
  CompareShared(running, wanted, comparison);
  CompareTopology(running.topology, wanted.topology, comparison);
  comparison.Free("awareness.enabled", running.awareness.enabled, wanted.awareness.enabled);
  comparison.Free("awareness.probe_chunk_bytes", running.awareness.probe_chunk_bytes,
                  wanted.awareness.probe_chunk_bytes);
  comparison.Free("awareness.probe_chunks", running.awareness.probe_chunks, wanted.awareness.probe_chunks);
  comparison.Free("awareness.estimator", running.awareness.estimator, wanted.awareness.estimator);
  comparison.Free("multipath.enabled", running.multipath.enabled, wanted.multipath.enabled);
  comparison.Free("multipath.primary_busy_bound", running.multipath.primary_busy_bound,
                  wanted.multipath.primary_busy_bound);
  comparison.Free("multipath.auxiliary_queue_length", running.multipath.auxiliary_queue_length,
                  wanted.multipath.auxiliary_queue_length);
  CompareChunks(running, wanted, element_bytes, comparison);
  FindDifference(FixedSettings(running), FixedSettings(wanted),
                 [&comparison](const std::string& name, const std::string& was, const std::string& is) {
                   comparison.Fixed(name, was, is);
                 });
  return comparison.Take();
}

JobSettings FixedSettings(const OverlayConfig& overlay) {
  JobSettings settings;
  for (const NodeConfig& node : overlay.nodes) {
    settings[absl::StrCat("nodes (", node.name, ").workers")] = absl::StrCat(node.workers);
  }
  AddAggregation(overlay.aggregation, settings);
  AddCompression(overlay.compression, settings);
  settings["trimming.policy"] = NameOf(overlay.trimming.policy);
  settings["trimming.queue_bytes"] = absl::StrCat(overlay.trimming.queue_bytes);
  settings["trimming.share"] = Exactly(overlay.trimming.share);
  settings["precision.profile"] = Text(overlay.precision.profile);
  settings["precision.binding"] = Text(overlay.precision.binding);
  if (overlay.low_bit.has_value()) AddVotes(*overlay.low_bit, settings);
  AddTransport(overlay.transport, settings);
  AddMembership(overlay.membership, settings);
  settings["policy.lease_seconds"] = Exactly(overlay.policy.lease);
  settings["policy.rounds_in_flight"] = absl::StrCat(overlay.policy.rounds_in_flight);
  return settings;
}

JobSettings StartSettings(const OverlayConfig& overlay) {
  JobSettings settings = FixedSettings(overlay);
  settings["chunks.max_elements"] = Text(overlay.chunks.max_elements);
  return settings;
}

absl::Status CompareSettings(const JobSettings& recorded, const JobSettings& now, const std::string& file_name) {
  absl::Status status;
  FindDifference(recorded, now, [&](const std::string& name, const std::string& was, const std::string& is) {
    status = absl::FailedPreconditionError(absl::StrCat(
        name, " is ", was, " in the running job, and ", is, " in ", file_name,
        ": it cannot change while a job runs. Bring the old file back. To begin another job with this one, end the "
        "running job first (`banyan stop`, then `banyan scheduler --another`), or begin with a new state"));
  });
  return status;
}

}  // namespace banyan
