#include "scheduler/policy/overlay_change.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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
    comparison.Fixed(node + "workers", a.workers, b.workers);
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

void CompareTransport(const TransportConfig& was, const TransportConfig& is, Comparison& comparison) {
  comparison.Fixed("transport.connections", was.connections, is.connections);
  comparison.Fixed("transport.bytes_per_connection", was.bytes_per_connection, is.bytes_per_connection);
  comparison.Fixed("transport.window_bytes", was.window_bytes, is.window_bytes);
  comparison.Fixed("transport.early_bytes", was.early_bytes, is.early_bytes);
  comparison.Fixed("transport.relay_bytes", was.relay_bytes, is.relay_bytes);
}

void CompareMembership(const MembershipConfig& was, const MembershipConfig& is, Comparison& comparison) {
  comparison.Fixed("membership.start_with", was.start_with, is.start_with);
  comparison.Fixed("membership.heartbeat_seconds", was.heartbeat, is.heartbeat);
  comparison.Fixed("membership.lost_after_seconds", was.lost_after, is.lost_after);
  comparison.Fixed("membership.scheduler_lost_after_seconds", was.scheduler_lost_after, is.scheduler_lost_after);
  comparison.Fixed("membership.least", was.least, is.least);
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
  if (running.aggregation != wanted.aggregation) {
    comparison.Refuse("aggregation", "its op or a parameter of it differs");
  }
  if (running.compression != wanted.compression) {
    comparison.Refuse("compression", "its rules or its least_elements differ");
  }
  if (running.trimming != wanted.trimming) comparison.Refuse("trimming", "its policy or a parameter of it differs");
  comparison.Fixed("precision.profile", running.precision.profile, wanted.precision.profile);
  comparison.Fixed("precision.binding", running.precision.binding, wanted.precision.binding);
  CompareTransport(running.transport, wanted.transport, comparison);
  CompareMembership(running.membership, wanted.membership, comparison);
  comparison.Fixed("policy.lease_seconds", running.policy.lease, wanted.policy.lease);
  comparison.Fixed("policy.rounds_in_flight", running.policy.rounds_in_flight, wanted.policy.rounds_in_flight);
  return comparison.Take();
}

}  // namespace banyan
