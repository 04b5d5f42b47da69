#include "scheduler/state/state_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/key_runs.h"
#include "scheduler/state/policy_record_wire.h"
#include "scheduler/state/state_record.pb.h"
#include "topology/chunk_assignment.h"

namespace banyan {
namespace {

// Many more than a record of this scheduler has: one for each key, for each request that waited, or for each lease of a
// part of a snapshot. What is none takes no more memory.
constexpr size_t kMostEntries = size_t{1} << 21;

void FillMember(const EpochMember& member, state::EpochMember& filled) {
  filled.set_node(member.node.value());
  filled.set_incarnation(member.incarnation.value());
  filled.set_joined_in(member.joined_in.value());
  filled.set_barriers_before(member.barriers_before);
  filled.set_departed(static_cast<uint32_t>(member.departed));
}

void FillEnd(const EndRecord& record, state::End& filled) {
  filled.set_reason(record.reason);
  filled.set_end(static_cast<uint32_t>(record.end));
}

void FillSettings(const JobSettings& settings, state::Settings& filled) {
  for (const auto& [name, value] : settings) {
    state::Setting& added = *filled.add_settings();
    added.set_name(name);
    added.set_value(value);
  }
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
    node.set_public_key(record.public_key);
  }
  void operator()(const KeysRecord& record) {
    to.mutable_keys()->set_first_key(record.first_key.value());
    for (const KeyRecord& key : record.keys) {
      state::Key& added = *to.mutable_keys()->add_keys();
      added.set_name(key.name);
      added.set_elements(key.elements);
      added.set_type(static_cast<uint32_t>(key.layout.type));
      added.mutable_borders()->Add(key.borders.begin(), key.borders.end());
      for (const TensorLayout::Part& part : key.layout.parts) {
        added.add_parts()->set_name(part.name);
        added.mutable_parts()->rbegin()->set_elements(part.elements);
      }
    }
  }
  void operator()(const PolicyRecord& record) { FillPolicy(record, *to.mutable_policy()); }
  void operator()(const BindingsRecord& record) {
    WriteKeyRuns(record.bindings, [this](const BoundRounds& binding, uint32_t more_keys) {
      state::Binding& added = *to.mutable_bindings()->add_bindings();
      added.set_key(binding.key.value());
      added.set_first_round(binding.first_round.value());
      added.set_rounds(binding.last_round.value() - binding.first_round.value() + 1);
      added.set_policy(binding.policy.value());
      added.set_attempt(binding.attempt.value());
      added.set_chunk_max_elements(binding.chunk_max_elements);
      added.set_route(binding.route.bits());
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
      added.set_route(binding.route.bits());
    }
  }
  void operator()(const CutRecord& record) {
    state::Cut& cut = *to.mutable_cut();
    cut.set_policy(record.policy.value());
    WriteKeyRuns(record.rounds, [&cut](const CutRecord::Entry& entry, uint32_t more_keys) {
      state::CutKey& added = *cut.add_rounds();
      added.set_key(entry.key.value());
      added.set_round(entry.round.value());
      added.set_route(entry.route.bits());
      added.set_chunk_max_elements(entry.chunk_max_elements);
      added.set_more_keys(more_keys);
    });
  }
  void operator()(const RemovedRecord& record) {
    to.mutable_removed()->set_node(record.node.value());
    to.mutable_removed()->set_is_back(record.is_back);
  }
  void operator()(const LeaveRecord& record) {
    to.mutable_left()->set_node(record.node.value());
    to.mutable_left()->set_is_asked_for(record.is_asked_for);
  }
  void operator()(const OverlayRecord& record) { FillOverlay(record.overlay, *to.mutable_overlay()); }
  void operator()(const SettingsRecord& record) { FillSettings(record.settings, *to.mutable_settings()); }
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
    FillSettings(record.settings, *summary.mutable_settings());
  }
};

absl::StatusOr<StateRecord> ReadBindings(const state::Bindings& from) {
  BindingsRecord record;
  for (const state::Binding& binding : from.bindings()) {
    const uint64_t last_round = binding.first_round() + binding.rounds() - 1;
    if (binding.rounds() == 0 || last_round < binding.first_round()) return Malformed("a binding of no rounds");
    if (binding.chunk_max_elements() < 0) return Malformed("a binding whose chunks have no elements");
    const BoundRounds first = {KeyId(binding.key()),
                               Round(binding.first_round()),
                               Round(last_round),
                               PolicyVersion(binding.policy()),
                               Attempt(binding.attempt()),
                               binding.chunk_max_elements(),
                               KeyRoutes::OfBits(binding.route())};
    if (!KeyRoutes::IsRoutes(binding.route())) return Malformed("a binding of an unknown route");
    if (!AddKeyRun(first, binding.more_keys(), kMostEntries, record.bindings)) return Malformed("too many bindings");
  }
  return StateRecord(std::move(record));
}

absl::StatusOr<StateRecord> ReadKeys(const state::Keys& from) {
  KeysRecord record;
  record.first_key = KeyId(from.first_key());
  for (const state::Key& key : from.keys()) {
    if (key.type() > static_cast<uint32_t>(kLastElementType)) return Malformed("a key of an unknown type");
    KeyRecord& added = record.keys.emplace_back();
    added.name = key.name();
    added.elements = key.elements();
    added.layout.type = static_cast<DataType>(key.type());
    for (const state::Part& part : key.parts()) added.layout.parts.push_back({part.name(), part.elements()});
    added.borders.assign(key.borders().begin(), key.borders().end());
    if (added.borders.size() >= KeyRoutes::kMostSlices || FindBadBorder(added.elements, added.borders).has_value()) {
      return Malformed("a key whose slices are too many or do not rise within it");
    }
  }
  return StateRecord(std::move(record));
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

JobSettings ReadSettings(const state::Settings& from) {
  JobSettings settings;
  for (const state::Setting& setting : from.settings()) settings[setting.name()] = setting.value();
  return settings;
}

template <typename Message>
absl::Status ReadMembers(const Message& from, std::vector<EpochMember>& members) {
  for (const state::EpochMember& member : from.members()) {
    if (member.departed() > static_cast<uint32_t>(Departed::kForGood)) {
      return Malformed("a member that has left in an unknown way");
    }
    members.push_back({NodeId(member.node()), Incarnation(member.incarnation()), Epoch(member.joined_in()),
                       member.barriers_before(), static_cast<Departed>(member.departed())});
  }
  return absl::OkStatus();
}

absl::StatusOr<StateRecord> ReadEpochStart(const state::EpochStart& from) {
  EpochRecord record;
  record.epoch = Epoch(from.epoch());
  if (absl::Status status = ReadMembers(from, record.members); !status.ok()) return status;
  record.reason = from.reason();
  return StateRecord(std::move(record));
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
    if (!KeyRoutes::IsRoutes(binding.route())) return Malformed("a plan of an unknown route");
    record.bindings.push_back({KeyId(binding.first_key()), KeyId(binding.last_key()), Round(binding.first_round()),
                               Round(last_round), Attempt(binding.attempt()), binding.chunk_max_elements(),
                               KeyRoutes::OfBits(binding.route())});
  }
  return StateRecord(std::move(record));
}

absl::StatusOr<StateRecord> ReadCut(const state::Cut& from) {
  CutRecord record;
  record.policy = PolicyVersion(from.policy());
  for (const state::CutKey& cut : from.rounds()) {
    if (!KeyRoutes::IsRoutes(cut.route())) return Malformed("a cut to an unknown route");
    if (cut.chunk_max_elements() < 0) return Malformed("a cut to chunks of no elements");
    const CutRecord::Entry first = {KeyId(cut.key()), Round(cut.round()), KeyRoutes::OfBits(cut.route()),
                                    cut.chunk_max_elements()};
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
  if (absl::Status status = ReadMembers(from, record.members); !status.ok()) return status;
  record.settings = ReadSettings(from.settings());
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
  if (std::holds_alternative<SettingsRecord>(record)) message.mutable_settings();
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
      return StateRecord(NodeRecord{NodeId(node.node()), node.name(), node.address(), Incarnation(node.incarnation()),
                                    node.public_key()});
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
    case state::StateRecord::kLeft:
      return StateRecord(LeaveRecord{NodeId(message.left().node()), message.left().is_asked_for()});
    case state::StateRecord::kSettings:
      return StateRecord(SettingsRecord{ReadSettings(message.settings())});
    case state::StateRecord::kOverlay:
      return StateRecord(OverlayRecord{{message.overlay().yaml(), message.overlay().file_name()}});
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
