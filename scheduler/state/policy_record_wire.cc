#include "scheduler/state/policy_record_wire.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

void FillHalf(const std::map<NodeId, NodeId>& parents, state::Half& half) {
  for (const auto& [node, parent] : parents) {
    half.add_nodes(node.value());
    half.add_parents(parent.value());
  }
}

void FillRoutes(const std::vector<Route>& routes, google::protobuf::RepeatedPtrField<state::Route>& filled) {
  for (const Route& route : routes) {
    state::Route& to = *filled.Add();
    for (const NodeId node : route.path) to.add_path(node.value());
    to.set_share(route.share);
  }
}

void FillTransmission(const TransmissionSettings& from, state::Transmission& to) {
  to.set_measures(from.measures);
  to.set_probe_chunk_bytes(from.probe_chunk_bytes);
  to.set_probe_chunks(from.probe_chunks);
  to.set_uses_auxiliary_paths(from.uses_auxiliary_paths);
  to.set_primary_busy_bound(from.primary_busy_bound);
  to.set_auxiliary_queue_length(from.auxiliary_queue_length);
  to.set_one_way_delay(from.estimator == RateEstimator::kOneWayDelay);
}

// Fills in from what and for what the policy was made.
void FillCircumstances(const PolicyRecord& record, state::Policy& filled) {
  filled.set_reason(record.reason);
  FillTransmission(record.transmission, *filled.mutable_transmission());
  for (const NetworkLink& link : record.measured) {
    state::MeasuredLink& added = *filled.add_measured();
    added.set_from(link.from.value());
    added.set_to(link.to.value());
    added.set_throughput_bps(link.throughput_bps);
    added.set_delay_ns(absl::ToInt64Nanoseconds(link.delay));
    added.set_is_auxiliary(link.source == LinkSource::kAuxiliary);
    added.set_is_believed(link.source == LinkSource::kBelieved);
  }
  for (const auto& [from, to] : record.left_out) {
    state::LinkEnds& added = *filled.add_left_out();
    added.set_from(from.value());
    added.set_to(to.value());
  }
  if (record.overlay.has_value()) FillOverlay(*record.overlay, *filled.mutable_overlay());
}

void FillPrecision(const PrecisionState& precision, state::Precision& filled) {
  filled.set_is_decided(precision.is_decided);
  for (const std::string& scope : precision.admitted) filled.add_admitted(scope);
  filled.set_is_vetoed(precision.is_vetoed);
  for (const std::string& scope : precision.ordered) filled.add_ordered(scope);
  for (const GuardedSize& size : precision.guarded) {
    filled.add_guarded(size.elements);
    filled.add_guarded_bytes(static_cast<uint32_t>(size.element_bytes));
  }
}

absl::StatusOr<std::map<NodeId, NodeId>> ReadHalf(const state::Half& half) {
  if (half.nodes_size() != half.parents_size()) return Malformed("a tree with unequal numbers of nodes and parents");
  std::map<NodeId, NodeId> parents;
  for (int i = 0; i < half.nodes_size(); ++i) parents.emplace(NodeId(half.nodes(i)), NodeId(half.parents(i)));
  return parents;
}

absl::StatusOr<std::vector<Route>> ReadRoutes(const google::protobuf::RepeatedPtrField<state::Route>& routes) {
  std::vector<Route> read;
  for (const state::Route& route : routes) {
    if (route.path_size() < 2) return Malformed("a route of fewer than two nodes");
    Route& added = read.emplace_back();
    for (const uint32_t node : route.path()) added.path.push_back(NodeId(node));
    added.share = route.share();
    added.from = added.path.front();
    added.to = added.path.back();
  }
  return read;
}

PrecisionState ReadPrecision(const state::Precision& from) {
  PrecisionState precision = {from.is_decided(),
                              {from.admitted().begin(), from.admitted().end()},
                              from.is_vetoed(),
                              {from.ordered().begin(), from.ordered().end()},
                              {}};
  for (int i = 0; i < from.guarded_size(); ++i) {
    GuardedSize& size = precision.guarded.emplace_back();
    size.elements = from.guarded(i);
    // Records of a version that told tensors apart by their elements alone have no bytes.
    if (i < from.guarded_bytes_size()) size.element_bytes = from.guarded_bytes(i);
  }
  return precision;
}

TransmissionSettings ReadTransmission(const state::Transmission& from) {
  TransmissionSettings settings;
  settings.measures = from.measures();
  settings.probe_chunk_bytes = from.probe_chunk_bytes();
  settings.probe_chunks = from.probe_chunks();
  settings.uses_auxiliary_paths = from.uses_auxiliary_paths();
  settings.primary_busy_bound = from.primary_busy_bound();
  settings.auxiliary_queue_length = from.auxiliary_queue_length();
  settings.estimator = from.one_way_delay() ? RateEstimator::kOneWayDelay : RateEstimator::kDelivery;
  return settings;
}

absl::Status ReadCircumstances(const state::Policy& from, PolicyRecord& record) {
  record.reason = from.reason();
  // Records of a version that had no such settings leave the defaults.
  if (from.has_transmission()) record.transmission = ReadTransmission(from.transmission());
  for (const state::MeasuredLink& link : from.measured()) {
    NetworkLink& added = record.measured.emplace_back();
    added.from = NodeId(link.from());
    added.to = NodeId(link.to());
    added.throughput_bps = link.throughput_bps();
    added.delay = absl::Nanoseconds(link.delay_ns());
    const LinkSource measured = link.is_auxiliary() ? LinkSource::kAuxiliary : LinkSource::kPrimary;
    added.source = link.is_believed() ? LinkSource::kBelieved : measured;
    if (!(std::isfinite(added.throughput_bps) && added.throughput_bps > 0) || added.delay < absl::ZeroDuration()) {
      return Malformed("a measured link whose rate or delay is none");
    }
  }
  for (const state::LinkEnds& link : from.left_out()) {
    record.left_out.emplace_back(NodeId(link.from()), NodeId(link.to()));
  }
  if (from.has_overlay()) record.overlay = OverlayText{from.overlay().yaml(), from.overlay().file_name()};
  return absl::OkStatus();
}

}  // namespace

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("malformed state record: ", what));
}

void FillOverlay(const OverlayText& overlay, state::Overlay& filled) {
  filled.set_yaml(overlay.yaml);
  filled.set_file_name(overlay.file_name);
}

void FillPolicy(const PolicyRecord& record, state::Policy& filled) {
  const Policy& policy = record.policy;
  filled.set_version(policy.version.value());
  filled.set_epoch(policy.epoch.value());
  filled.set_key_table(policy.key_table.value());
  filled.set_planner(policy.planner);
  for (const NodeId member : policy.members) filled.add_members(member.value());
  for (const Tree& tree : policy.trees) {
    state::Tree& added = *filled.add_trees();
    added.set_root(tree.root.value());
    added.set_share(tree.share);
    FillHalf(tree.reduce_parent, *added.mutable_reduce());
    FillHalf(tree.broadcast_parent, *added.mutable_broadcast());
  }
  FillRoutes(policy.routes, *filled.mutable_routes());
  FillRoutes(policy.auxiliary, *filled.mutable_auxiliary());
  filled.set_chunk_max_elements(policy.chunk_max_elements);
  filled.set_rate_bps(policy.rate_bps);
  filled.set_bound_bps(policy.bound_bps);
  filled.set_auxiliary_rate_bps(policy.auxiliary_rate_bps);
  filled.set_round_time_ns(absl::ToInt64Nanoseconds(policy.round_time));
  filled.set_source(record.source.value());
  if (record.precision != PrecisionState()) FillPrecision(record.precision, *filled.mutable_precision());
  FillCircumstances(record, filled);
}

absl::StatusOr<PolicyRecord> ReadPolicy(const state::Policy& from) {
  Policy policy;
  policy.version = PolicyVersion(from.version());
  policy.epoch = Epoch(from.epoch());
  policy.key_table = KeyTableVersion(from.key_table());
  policy.planner = from.planner();
  for (const uint32_t member : from.members()) policy.members.push_back(NodeId(member));
  for (const state::Tree& tree : from.trees()) {
    absl::StatusOr<std::map<NodeId, NodeId>> reduce = ReadHalf(tree.reduce());
    if (!reduce.ok()) return reduce.status();
    absl::StatusOr<std::map<NodeId, NodeId>> broadcast = ReadHalf(tree.broadcast());
    if (!broadcast.ok()) return broadcast.status();
    policy.trees.push_back(Tree{NodeId(tree.root()), tree.share(), *std::move(reduce), *std::move(broadcast)});
  }
  absl::StatusOr<std::vector<Route>> routes = ReadRoutes(from.routes());
  if (!routes.ok()) return routes.status();
  policy.routes = *std::move(routes);
  absl::StatusOr<std::vector<Route>> auxiliary = ReadRoutes(from.auxiliary());
  if (!auxiliary.ok()) return auxiliary.status();
  policy.auxiliary = *std::move(auxiliary);
  policy.chunk_max_elements = from.chunk_max_elements();
  policy.rate_bps = from.rate_bps();
  policy.bound_bps = from.bound_bps();
  if (std::isnan(policy.rate_bps) || std::isnan(policy.bound_bps)) return Malformed("a policy whose rate is no number");
  policy.auxiliary_rate_bps = from.auxiliary_rate_bps();
  policy.round_time = absl::Nanoseconds(std::max<int64_t>(0, from.round_time_ns()));
  PolicyRecord record;
  record.policy = std::move(policy);
  record.source = NodeId(from.source());
  record.precision = ReadPrecision(from.precision());
  if (absl::Status status = ReadCircumstances(from, record); !status.ok()) return status;
  return record;
}

}  // namespace banyan
