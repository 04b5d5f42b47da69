#include "scheduler/state/recovered_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// Adds one record after the other. What they say of rounds goes into `rounds`; nowhere without it.
class Replay {
 public:
  Replay(RecoveredState& state, RoundLedger* rounds) : state_(state), rounds_(rounds) {}

  absl::Status operator()(TermRecord record) {
    if (record.term <= state_.last_term) return absl::DataLossError("a term that does not rise");
    state_.last_term = record.term;
    state_.job = std::move(record.job);
    state_.end.reset();
    return absl::OkStatus();
  }

  absl::Status operator()(NodeRecord record) {
    state_.spent_nodes.erase(record.node);
    state_.nodes[record.node] = std::move(record);
    return absl::OkStatus();
  }

  absl::Status operator()(KeysRecord record) {
    if (record.first_key.value() != state_.keys.size() + 1)
      return absl::DataLossError("keys that do not follow the last");
    for (KeyRecord& key : record.keys) state_.keys.push_back(std::move(key));
    return absl::OkStatus();
  }

  absl::Status operator()(PolicyRecord record) {
    if (record.policy.version <= state_.last_policy) return absl::DataLossError("a policy version that does not rise");
    // In a snapshot the epochs and members come last, since its policies may be of earlier ones.
    if (!state_.members.empty() && !IsOfMembers(record.policy)) {
      return absl::DataLossError("a policy of other members than the epoch has");
    }
    state_.last_policy = record.policy.version;
    if (record.overlay.has_value()) state_.overlay = std::exchange(record.overlay, std::nullopt);
    state_.policies.push_back(std::move(record));
    return absl::OkStatus();
  }

  absl::Status operator()(PrecisionRecord record) {
    state_.precision = std::move(record.state);
    return absl::OkStatus();
  }

  absl::Status operator()(const BindingsRecord& record) {
    for (const BoundRounds& binding : record.bindings) {
      if (!HasKey(binding.key) || !HasPolicy(binding.policy) || !Book(&RoundLedger::Bind, binding)) {
        return absl::DataLossError("a binding that contradicts others");
      }
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const CutRecord& record) {
    if (!HasPolicy(record.policy)) return absl::DataLossError("the end of a lease without its policy");
    for (const CutRecord::Entry& entry : record.rounds) {
      if (!HasKey(entry.key) ||
          !Book(&RoundLedger::Cut, entry.key, entry.round, record.policy, entry.route, entry.chunk_max_elements)) {
        return absl::DataLossError("the end of a lease of rounds that no earlier policy governs, or that have closed");
      }
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const ClosedRecord& record) {
    for (const ClosedEverywhere::Entry& entry : record.rounds) {
      if (!Book(&RoundLedger::Close, entry.key, entry.round))
        return absl::DataLossError("the end of a round that is not open");
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const BarrierRecord& record) {
    if (record.barrier != state_.next_barrier) return absl::DataLossError("a barrier out of order");
    ++state_.next_barrier;
    for (const NodeId node : record.left_out) {
      const auto member = std::find_if(state_.members.begin(), state_.members.end(),
                                       [node](const EpochMember& candidate) { return candidate.node == node; });
      if (member == state_.members.end()) return absl::DataLossError("a barrier without a node that is no member");
      ++member->barriers_before;
    }
    return absl::OkStatus();
  }

  absl::Status operator()(EndRecord record) {
    state_.end = std::move(record);
    for (const auto& [node, record] : state_.nodes) state_.spent_nodes.insert(node);
    state_.policies.clear();
    state_.overlay.reset();
    state_.keys.clear();
    state_.precision = {};
    if (rounds_ != nullptr) *rounds_ = RoundLedger();
    state_.next_barrier = 0;
    state_.members.clear();
    state_.removed_nodes.clear();
    state_.settings.clear();
    return absl::OkStatus();
  }

  absl::Status operator()(EpochRecord record) {
    if (record.epoch <= state_.last_epoch) return absl::DataLossError("an epoch that does not rise");
    NodeId last;
    for (const EpochMember& member : record.members) {
      const auto node = state_.nodes.find(member.node);
      if (node == state_.nodes.end()) return absl::DataLossError("the records have a member that never joined");
      if (member.node <= last || member.joined_in > record.epoch) {
        return absl::DataLossError("members that contradict each other");
      }
      last = member.node;
    }
    state_.last_epoch = record.epoch;
    state_.members = std::move(record.members);
    return absl::OkStatus();
  }

  absl::Status operator()(const EpochPlanRecord& record) {
    if (record.epoch != state_.last_epoch || record.epoch <= state_.planned_epoch) {
      return absl::DataLossError("the plan of another epoch");
    }
    if (!HasPolicy(record.policy)) return absl::DataLossError("a plan without its policy");
    for (const EpochPlan::Frontier& frontier : record.frontiers) {
      if (!HasKey(frontier.first_key) || !HasKey(frontier.last_key))
        return absl::DataLossError("a plan of unknown keys");
    }
    for (const EpochPlan::Binding& binding : record.bindings) {
      if (!HasKey(binding.first_key) || !HasKey(binding.last_key)) return absl::DataLossError("a plan of unknown keys");
    }
    if (!Book(&RoundLedger::Rebind, record)) return absl::DataLossError("a plan that contradicts itself");
    state_.planned_epoch = record.epoch;
    state_.plan_policy = record.policy;
    return absl::OkStatus();
  }

  absl::Status operator()(const RemovedRecord& record) {
    const bool is_change =
        record.is_back ? state_.removed_nodes.erase(record.node) > 0 : state_.removed_nodes.insert(record.node).second;
    return is_change ? absl::OkStatus() : absl::DataLossError("a removal that changes nothing");
  }

  absl::Status operator()(OverlayRecord record) {
    if (!state_.is_running()) return absl::DataLossError("an overlay for a job that does not run");
    state_.overlay = std::move(record.overlay);
    return absl::OkStatus();
  }

  absl::Status operator()(const LeaveRecord& record) {
    const auto member = std::find_if(state_.members.begin(), state_.members.end(),
                                     [&record](const EpochMember& candidate) { return candidate.node == record.node; });
    if (member == state_.members.end()) return absl::DataLossError("a node that has left and is no member");
    member->departed = record.is_asked_for ? Departed::kAsked : Departed::kForGood;
    return absl::OkStatus();
  }

  absl::Status operator()(SettingsRecord record) {
    if (state_.is_running()) {
      for (auto& [name, value] : record.settings) {
        if (!state_.settings.emplace(name, std::move(value)).second)
          return absl::DataLossError("a setting that changes");
      }
      return absl::OkStatus();
    }
    const bool has_others = !state_.settings.empty();
    state_.settings = std::move(record.settings);
    if (!has_others) return absl::OkStatus();
    for (const auto& [node, known] : state_.nodes) state_.spent_nodes.insert(node);
    return absl::OkStatus();
  }

  absl::Status operator()(SummaryRecord record) {
    if (record.last_epoch < state_.last_epoch || record.last_policy < state_.last_policy) {
      return absl::DataLossError("a summary that knows less than what comes before it");
    }
    for (const auto& [key, closed] : record.closed) {
      if (!HasKey(key) || !Book(&RoundLedger::RestoreClosed, key, closed)) {
        return absl::DataLossError("a summary of rounds that contradicts others");
      }
    }
    state_.last_epoch = record.last_epoch;
    state_.last_policy = record.last_policy;
    state_.spent_nodes = std::move(record.spent_nodes);
    state_.next_barrier = record.next_barrier;
    state_.overlay = std::move(record.overlay);
    state_.members = std::move(record.members);
    state_.planned_epoch = record.planned_epoch;
    state_.plan_policy = record.plan_policy;
    state_.removed_nodes = std::move(record.removed_nodes);
    state_.end = std::move(record.end);
    state_.settings = std::move(record.settings);
    return absl::OkStatus();
  }

 private:
  bool IsOfMembers(const Policy& policy) const {
    return policy.epoch == state_.last_epoch &&
           std::equal(policy.members.begin(), policy.members.end(), state_.members.begin(), state_.members.end(),
                      [](NodeId node, const EpochMember& member) { return node == member.node; });
  }
  // Changes the ledger; true where none is kept.
  template <typename Change, typename... Arguments>
  bool Book(Change change, const Arguments&... what) {
    return rounds_ == nullptr || (rounds_->*change)(what...);
  }
  bool HasKey(KeyId key) const { return key.value() >= 1 && key.value() <= state_.keys.size(); }
  bool HasPolicy(PolicyVersion version) const {
    return std::any_of(state_.policies.rbegin(), state_.policies.rend(),
                       [version](const PolicyRecord& record) { return record.policy.version == version; });
  }

  RecoveredState& state_;
  RoundLedger* const rounds_;
};

// Checks that the record is of this job.
absl::Status CheckJob(const StateRecord& record, const std::string& job) {
  const auto* term = std::get_if<TermRecord>(&record);
  if (term == nullptr || term->job == job) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the records are of job '", term->job, "', not of '", job, "'; give each job a state of its own"));
}

// Checks that the nodes of the job that is not over are where the overlay has them, or were added by a reconfiguration:
// JobRestorer knows its names.
absl::Status CheckNodes(const RecoveredState& state, const std::vector<std::string>& node_names) {
  for (const auto& [node, record] : state.nodes) {
    const size_t position = node.value();
    if (position == 0) return absl::DataLossError("a node without a number");
    if (state.spent_nodes.count(node) > 0) continue;
    if (position <= node_names.size() && node_names[position - 1] == record.name) continue;
    if (position <= node_names.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("node ", position, " was '", record.name,
                       "' and the overlay has another there; ids are never reused: keep the order of `nodes` and add "
                       "new ones at the end, or begin with a new state (another --state-dir)"));
    }
    if (state.overlay.has_value()) continue;
    return absl::FailedPreconditionError(absl::StrCat("node ", position, " was '", record.name,
                                                      "' and the overlay has fewer nodes; bring them back at the end "
                                                      "of `nodes`, or begin with a new state (another --state-dir)"));
  }
  return absl::OkStatus();
}

// A key may have many open leases, and those of all keys may be more than one record may have.
constexpr size_t kMostBindingsOfARecord = size_t{1} << 16;

}  // namespace

void RecoveredState::RetirePolicies(const RoundLedger& open) {
  if (policies.empty()) return;
  const PolicyVersion newest = policies.back().policy.version;
  const PolicyVersion oldest = std::min(open.leases().OldestPolicy().value_or(newest), newest);
  std::erase_if(policies, [oldest](const PolicyRecord& record) { return record.policy.version < oldest; });
}

absl::Status ApplyStateRecord(StateRecord record, RecoveredState& state) {
  return std::visit(Replay(state, &state.rounds), std::move(record));
}

absl::Status ApplyButRounds(StateRecord record, RecoveredState& state) {
  return std::visit(Replay(state, nullptr), std::move(record));
}

std::string MakeSnapshot(RecoveredState state) {
  state.RetirePolicies(state.rounds);
  std::vector<std::string> records;
  const auto add = [&records](const StateRecord& record) { records.push_back(EncodeStateRecord(record)); };
  if (state.last_term > Term(0)) add(TermRecord{state.last_term, state.job});
  for (const auto& [node, record] : state.nodes) add(record);
  if (!state.keys.empty()) add(KeysRecord{KeyId(1), std::move(state.keys)});
  for (const PolicyRecord& record : state.policies) add(record);
  if (state.precision != PrecisionState()) add(PrecisionRecord{std::move(state.precision)});
  const std::vector<BoundRounds> open = state.rounds.OpenBindings();
  for (size_t first = 0; first < open.size(); first += kMostBindingsOfARecord) {
    const size_t end = std::min(first + kMostBindingsOfARecord, open.size());
    add(BindingsRecord{{open.begin() + first, open.begin() + end}});
  }
  add(SummaryRecord{state.last_epoch, state.last_policy, std::move(state.spent_nodes), state.rounds.closed(),
                    state.next_barrier, std::move(state.overlay), std::move(state.members), state.planned_epoch,
                    state.plan_policy, std::move(state.removed_nodes), std::move(state.end),
                    std::move(state.settings)});
  return EncodeSnapshot(std::move(records));
}

absl::StatusOr<RecoveredState> ReplayStateRecords(const StoredRecords& stored, const std::string& job,
                                                  const std::vector<std::string>& node_names) {
  RecoveredState state;
  const auto replay = [&](const std::vector<std::string>& records, const std::string& of) {
    for (size_t i = 0; i < records.size(); ++i) {
      absl::StatusOr<StateRecord> record = DecodeStateRecord(records[i]);
      absl::Status status = record.ok() ? CheckJob(*record, job) : record.status();
      if (status.ok()) status = ApplyStateRecord(*std::move(record), state);
      if (status.ok()) continue;
      return absl::Status(status.code(),
                          absl::StrCat("state record ", i + 1, " of ", records.size(), of, ": ", status.message()));
    }
    return absl::OkStatus();
  };
  if (!stored.snapshot.empty()) {
    const absl::StatusOr<std::vector<std::string>> records = DecodeSnapshot(stored.snapshot);
    if (!records.ok()) return records.status();
    if (absl::Status status = replay(*records, " in the snapshot"); !status.ok()) return status;
  }
  if (absl::Status status = replay(stored.tail, ""); !status.ok()) return status;
  if (absl::Status status = CheckNodes(state, node_names); !status.ok()) return status;
  if (state.is_running() && state.members.empty() && state.last_epoch == state.planned_epoch) {
    return absl::DataLossError(
        "the records have a running job without members, as earlier releases wrote them; begin with a new state "
        "(another --state-dir)");
  }
  state.RetirePolicies(state.rounds);
  return state;
}

}  // namespace banyan
