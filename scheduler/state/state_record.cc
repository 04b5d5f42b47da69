#include "scheduler/state/state_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/key_runs.h"
#include "scheduler/state/state_record.pb.h"

namespace banyan {
namespace {

// A record of more has no form that this scheduler gives to one.
constexpr size_t kMostEntries = size_t{1} << 24;

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("malformed state record: ", what));
}

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

void FillOverlay(const OverlayText& overlay, state::Overlay& filled) {
  filled.set_yaml(overlay.yaml);
  filled.set_file_name(overlay.file_name);
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

void FillMember(const EpochMember& member, state::EpochMember& filled) {
  filled.set_node(member.node.value());
  filled.set_incarnation(member.incarnation.value());
  filled.set_joined_in(member.joined_in.value());
  filled.set_barriers_before(member.barriers_before);
}

void FillEnd(const EndRecord& record, state::End& filled) {
  filled.set_reason(record.reason);
  filled.set_end(static_cast<uint32_t>(record.end));
}

struct Encoder {
  state::StateRecord& to;

  void operator()(const TermRecord& record) {
    to.mutable_term()->set_term(record.term.value());
    to.mutable_term()->set_job(record.job);
  }
  void operator()(const NodeRecord& record) {
    state::Node& node = *to.mutable_node();
    node.set_node(record.node.value());
    node.set_name(record.name);
    node.set_address(record.address);
    node.set_incarnation(record.incarnation.value());
  }
  void operator()(const KeysRecord& record) {
    to.mutable_keys()->set_first_key(record.first_key.value());
    for (const RegisterKeys::Key& key : record.keys) {
      state::Key& added = *to.mutable_keys()->add_keys();
      added.set_name(key.name);
      added.set_elements(key.elements);
      for (const TensorLayout::Part& part : key.layout.parts) {
        added.add_parts()->set_name(part.name);
        added.mutable_parts()->rbegin()->set_elements(part.elements);
      }
    }
  }
  void operator()(const PolicyRecord& record) {
    const Policy& policy = record.policy;
    state::Policy& filled = *to.mutable_policy();
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
    FillCircumstances(record, filled);
  }
  void operator()(const BindingsRecord& record) {
    WriteKeyRuns(record.bindings, [this](const BoundRounds& binding, uint32_t more_keys) {
      state::Binding& added = *to.mutable_bindings()->add_bindings();
      added.set_key(binding.key.value());
      added.set_first_round(binding.first_round.value());
      added.set_rounds(binding.last_round.value() - binding.first_round.value() + 1);
      added.set_policy(binding.policy.value());
      added.set_attempt(binding.attempt.value());
      added.set_chunk_max_elements(binding.chunk_max_elements);
      added.set_more_keys(more_keys);
    });
  }
  void operator()(const ClosedRecord& record) {
    WriteKeyRuns(record.rounds, [this](const ClosedEverywhere::Entry& round, uint32_t more_keys) {
      state::ClosedRound& added = *to.mutable_closed()->add_rounds();
      added.set_key(round.key.value());
      added.set_round(round.round.value());
      added.set_more_keys(more_keys);
    });
  }
  void operator()(const BarrierRecord& record) {
    to.mutable_barrier()->set_barrier(record.barrier);
    for (const NodeId node : record.left_out) to.mutable_barrier()->add_left_out(node.value());
  }
  void operator()(const EndRecord& record) { FillEnd(record, *to.mutable_end()); }
  void operator()(const EpochRecord& record) {
    state::EpochStart& start = *to.mutable_epoch_start();
    start.set_epoch(record.epoch.value());
    for (const EpochMember& member : record.members) FillMember(member, *start.add_members());
    start.set_reason(record.reason);
  }
  void operator()(const EpochPlanRecord& record) {
    state::EpochPlan& plan = *to.mutable_epoch_plan();
    plan.set_epoch(record.epoch.value());
    plan.set_policy(record.policy.value());
    for (const EpochPlan::Frontier& frontier : record.frontiers) {
      state::Frontier& added = *plan.add_frontiers();
      added.set_first_key(frontier.first_key.value());
      added.set_last_key(frontier.last_key.value());
      added.set_first_open(frontier.first_open.value());
    }
    for (const EpochPlan::Binding& binding : record.bindings) {
      state::Rebinding& added = *plan.add_bindings();
      added.set_first_key(binding.first_key.value());
      added.set_last_key(binding.last_key.value());
      added.set_first_round(binding.first_round.value());
      added.set_rounds(binding.last_round.value() - binding.first_round.value() + 1);
      added.set_attempt(binding.attempt.value());
      added.set_chunk_max_elements(binding.chunk_max_elements);
    }
  }
  void operator()(const CutRecord& record) {
    state::Cut& cut = *to.mutable_cut();
    cut.set_policy(record.policy.value());
    WriteKeyRuns(record.rounds, [&cut](const CutBound::Entry& entry, uint32_t more_keys) {
      state::CutKey& added = *cut.add_rounds();
      added.set_key(entry.key.value());
      added.set_round(entry.round.value());
      added.set_more_keys(more_keys);
    });
  }
  void operator()(const RemovedRecord& record) {
    to.mutable_removed()->set_node(record.node.value());
    to.mutable_removed()->set_is_back(record.is_back);
  }
  void operator()(const SummaryRecord& record) {
    state::Summary& summary = *to.mutable_summary();
    summary.set_last_epoch(record.last_epoch.value());
    summary.set_last_policy(record.last_policy.value());
    for (const NodeId node : record.spent_nodes) summary.add_spent_nodes(node.value());
    for (const auto& [key, rounds] : record.closed) {
      state::ClosedKey& closed = *summary.add_closed();
      closed.set_key(key.value());
      closed.set_first_open(rounds.first_open.value());
      for (const Round round : rounds.beyond) closed.add_beyond(round.value());
    }
    summary.set_next_barrier(record.next_barrier);
    if (record.overlay.has_value()) FillOverlay(*record.overlay, *summary.mutable_overlay());
    for (const EpochMember& member : record.members) FillMember(member, *summary.add_members());
    summary.set_planned_epoch(record.planned_epoch.value());
    summary.set_plan_policy(record.plan_policy.value());
    for (const NodeId node : record.removed_nodes) summary.add_removed_nodes(node.value());
    if (record.end.has_value()) FillEnd(*record.end, *summary.mutable_end());
  }
};

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

absl::StatusOr<StateRecord> ReadPolicy(const state::Policy& from) {
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
  if (absl::Status status = ReadCircumstances(from, record); !status.ok()) return status;
  return StateRecord(std::move(record));
}

absl::StatusOr<StateRecord> ReadBindings(const state::Bindings& from) {
  BindingsRecord record;
  for (const state::Binding& binding : from.bindings()) {
    const uint64_t last_round = binding.first_round() + binding.rounds() - 1;
    if (binding.rounds() == 0 || last_round < binding.first_round()) return Malformed("a binding of no rounds");
    if (binding.chunk_max_elements() < 0) return Malformed("a binding whose chunks have no elements");
    const BoundRounds first = {KeyId(binding.key()),       Round(binding.first_round()),
                               Round(last_round),          PolicyVersion(binding.policy()),
                               Attempt(binding.attempt()), binding.chunk_max_elements()};
    if (!AddKeyRun(first, binding.more_keys(), kMostEntries, record.bindings)) return Malformed("too many bindings");
  }
  return StateRecord(std::move(record));
}

StateRecord ReadKeys(const state::Keys& from) {
  KeysRecord record;
  record.first_key = KeyId(from.first_key());
  for (const state::Key& key : from.keys()) {
    record.keys.push_back(RegisterKeys::Key{key.name(), key.elements()});
    for (const state::Part& part : key.parts()) {
      record.keys.back().layout.parts.push_back({part.name(), part.elements()});
    }
  }
  return record;
}

absl::StatusOr<StateRecord> ReadClosed(const state::Closed& from) {
  ClosedRecord record;
  for (const state::ClosedRound& round : from.rounds()) {
    const ClosedEverywhere::Entry first = {KeyId(round.key()), Round(round.round())};
    if (!AddKeyRun(first, round.more_keys(), kMostEntries, record.rounds)) return Malformed("too many closed rounds");
  }
  return record;
}

StateRecord ReadBarrier(const state::Barrier& from) {
  BarrierRecord record;
  record.barrier = from.barrier();
  for (const uint32_t node : from.left_out()) record.left_out.push_back(NodeId(node));
  return record;
}

EpochMember ReadMember(const state::EpochMember& from) {
  return {NodeId(from.node()), Incarnation(from.incarnation()), Epoch(from.joined_in()), from.barriers_before()};
}

StateRecord ReadEpochStart(const state::EpochStart& from) {
  EpochRecord record;
  record.epoch = Epoch(from.epoch());
  for (const state::EpochMember& member : from.members()) record.members.push_back(ReadMember(member));
  record.reason = from.reason();
  return record;
}

absl::StatusOr<StateRecord> ReadEpochPlan(const state::EpochPlan& from) {
  EpochPlanRecord record;
  record.epoch = Epoch(from.epoch());
  record.policy = PolicyVersion(from.policy());
  for (const state::Frontier& frontier : from.frontiers()) {
    if (frontier.first_key() > frontier.last_key()) return Malformed("a frontier of no keys");
    record.frontiers.push_back({KeyId(frontier.first_key()), KeyId(frontier.last_key()), Round(frontier.first_open())});
  }
  for (const state::Rebinding& binding : from.bindings()) {
    const uint64_t last_round = binding.first_round() + binding.rounds() - 1;
    if (binding.rounds() == 0 || last_round < binding.first_round()) return Malformed("a plan that binds no rounds");
    if (binding.first_key() > binding.last_key()) return Malformed("a plan that binds rounds of no keys");
    if (binding.chunk_max_elements() < 1) return Malformed("a plan whose chunks have no elements");
    record.bindings.push_back({KeyId(binding.first_key()), KeyId(binding.last_key()), Round(binding.first_round()),
                               Round(last_round), Attempt(binding.attempt()), binding.chunk_max_elements()});
  }
  return StateRecord(std::move(record));
}

absl::StatusOr<StateRecord> ReadCut(const state::Cut& from) {
  CutRecord record;
  record.policy = PolicyVersion(from.policy());
  for (const state::CutKey& cut : from.rounds()) {
    const CutBound::Entry first = {KeyId(cut.key()), Round(cut.round())};
    if (!AddKeyRun(first, cut.more_keys(), kMostEntries, record.rounds)) return Malformed("too many keys in a cut");
  }
  return StateRecord(std::move(record));
}

absl::StatusOr<EndRecord> ReadEnd(const state::End& from) {
  if (from.end() > static_cast<uint32_t>(JobEnd::kStopped)) return Malformed("an end of the job of an unknown kind");
  return EndRecord{from.reason(), static_cast<JobEnd>(from.end())};
}

absl::StatusOr<StateRecord> ReadSummary(const state::Summary& from) {
  SummaryRecord record;
  record.last_epoch = Epoch(from.last_epoch());
  record.last_policy = PolicyVersion(from.last_policy());
  for (const uint32_t node : from.spent_nodes()) record.spent_nodes.insert(NodeId(node));
  for (const state::ClosedKey& closed : from.closed()) {
    ClosedRounds& rounds = record.closed[KeyId(closed.key())];
    rounds.first_open = Round(closed.first_open());
    for (const uint64_t round : closed.beyond()) rounds.beyond.insert(Round(round));
  }
  record.next_barrier = from.next_barrier();
  if (from.has_overlay()) record.overlay = OverlayText{from.overlay().yaml(), from.overlay().file_name()};
  for (const state::EpochMember& member : from.members()) record.members.push_back(ReadMember(member));
  record.planned_epoch = Epoch(from.planned_epoch());
  record.plan_policy = PolicyVersion(from.plan_policy());
  for (const uint32_t node : from.removed_nodes()) record.removed_nodes.insert(NodeId(node));
  if (!from.has_end()) return StateRecord(std::move(record));
  absl::StatusOr<EndRecord> end = ReadEnd(from.end());
  if (end.ok()) record.end = *end;
  return end.ok() ? StateRecord(std::move(record)) : absl::StatusOr<StateRecord>(end.status());
}

}  // namespace

void ClosedRounds::AdvanceTo(Round open) {
  if (open <= first_open) return;
  first_open = open;
  beyond.erase(beyond.begin(), beyond.lower_bound(open));
  while (!beyond.empty() && *beyond.begin() == first_open) {
    beyond.erase(beyond.begin());
    first_open = first_open.Next();
  }
}

void ClosedRounds::Add(Round round) {
  beyond.insert(round);
  while (!beyond.empty() && *beyond.begin() == first_open) {
    beyond.erase(beyond.begin());
    first_open = first_open.Next();
  }
}

std::string EncodeStateRecord(const StateRecord& record) {
  state::StateRecord message;
  // An empty list is a record too.
  if (std::holds_alternative<EpochPlanRecord>(record)) message.mutable_epoch_plan();
  if (std::holds_alternative<BindingsRecord>(record)) message.mutable_bindings();
  if (std::holds_alternative<ClosedRecord>(record)) message.mutable_closed();
  std::visit(Encoder{message}, record);
  return message.SerializeAsString();
}

absl::StatusOr<StateRecord> DecodeStateRecord(const std::string& bytes) {
  state::StateRecord message;
  if (!message.ParseFromString(bytes)) return Malformed(absl::StrCat(bytes.size(), " bytes that are none"));
  switch (message.record_case()) {
    case state::StateRecord::kTerm:
      return StateRecord(TermRecord{Term(message.term().term()), message.term().job()});
    case state::StateRecord::kNode: {
      const state::Node& node = message.node();
      return StateRecord(NodeRecord{NodeId(node.node()), node.name(), node.address(), Incarnation(node.incarnation())});
    }
    case state::StateRecord::kKeys:
      return ReadKeys(message.keys());
    case state::StateRecord::kPolicy:
      return ReadPolicy(message.policy());
    case state::StateRecord::kBindings:
      return ReadBindings(message.bindings());
    case state::StateRecord::kClosed:
      return ReadClosed(message.closed());
    case state::StateRecord::kBarrier:
      return ReadBarrier(message.barrier());
    case state::StateRecord::kEnd:
      return ReadEnd(message.end());
    case state::StateRecord::kEpochStart:
      return ReadEpochStart(message.epoch_start());
    case state::StateRecord::kEpochPlan:
      return ReadEpochPlan(message.epoch_plan());
    case state::StateRecord::kRemoved:
      return StateRecord(RemovedRecord{NodeId(message.removed().node()), message.removed().is_back()});
    case state::StateRecord::kCut:
      return ReadCut(message.cut());
    case state::StateRecord::kSummary:
      return ReadSummary(message.summary());
    case state::StateRecord::RECORD_NOT_SET:
      break;
  }
  return Malformed("a kind that this version does not know");
}

std::string EncodeSnapshot(std::vector<std::string> records) {
  state::Snapshot message;
  for (std::string& record : records) message.add_records(std::move(record));
  return message.SerializeAsString();
}

absl::StatusOr<std::vector<std::string>> DecodeSnapshot(const std::string& bytes) {
  state::Snapshot message;
  if (!message.ParseFromString(bytes)) return absl::DataLossError("malformed snapshot of the state");
  return std::vector<std::string>(message.mutable_records()->begin(), message.mutable_records()->end());
}

}  // namespace banyan
