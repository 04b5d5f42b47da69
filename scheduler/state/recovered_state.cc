#include "scheduler/state/recovered_state.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// Adds one record after the other.
class Replay {
 public:
  Replay(const std::string& job, const std::vector<std::string>& node_names) : job_(job), node_names_(node_names) {}

  absl::Status operator()(TermRecord record) {
    if (record.job != job_) {
      return absl::FailedPreconditionError(absl::StrCat("the records are of job '", record.job, "', not of '", job_,
                                                        "'; give each job a state of its own"));
    }
    if (record.term <= state_.last_term) return absl::DataLossError("a term that does not rise");
    state_.last_term = record.term;
    return absl::OkStatus();
  }

  absl::Status operator()(NodeRecord record) {
    const size_t position = record.node.value();
    if (position < 1 || position > node_names_.size() || node_names_[position - 1] != record.name) {
      return absl::FailedPreconditionError(absl::StrCat(
          "node ", position, " was '", record.name,
          "' and the overlay has another there; ids are never reused: keep the order of `nodes` and add new "
          "ones at the end, or begin with a new state"));
    }
    state_.spent_nodes.erase(record.node);
    state_.nodes[record.node] = std::move(record);
    return absl::OkStatus();
  }

  absl::Status operator()(KeysRecord record) {
    if (record.first_key.value() != state_.keys.size() + 1)
      return absl::DataLossError("keys that do not follow the last");
    for (RegisterKeys::Key& key : record.keys) state_.keys.push_back(std::move(key));
    return absl::OkStatus();
  }

  absl::Status operator()(PolicyRecord record) {
    if (record.policy.version <= state_.last_policy) return absl::DataLossError("a policy version that does not rise");
    if (record.policy.epoch < state_.last_epoch) return absl::DataLossError("an epoch that falls");
    state_.last_policy = record.policy.version;
    state_.last_epoch = record.policy.epoch;
    state_.policies.push_back(std::move(record));
    return absl::OkStatus();
  }

  absl::Status operator()(const BindingsRecord& record) {
    state_.bindings.insert(state_.bindings.end(), record.bindings.begin(), record.bindings.end());
    return absl::OkStatus();
  }

  absl::Status operator()(const ClosedRecord& record) {
    state_.closed.insert(state_.closed.end(), record.rounds.begin(), record.rounds.end());
    return absl::OkStatus();
  }

  absl::Status operator()(const BarrierRecord& record) {
    if (record.barrier != state_.next_barrier) return absl::DataLossError("a barrier out of order");
    ++state_.next_barrier;
    return absl::OkStatus();
  }

  absl::Status operator()(const EndRecord&) {
    for (const auto& [node, record] : state_.nodes) state_.spent_nodes.insert(node);
    state_.policies.clear();
    state_.keys.clear();
    state_.bindings.clear();
    state_.closed.clear();
    state_.next_barrier = 0;
    return absl::OkStatus();
  }

  RecoveredState Take() { return std::move(state_); }

 private:
  const std::string& job_;
  const std::vector<std::string>& node_names_;
  RecoveredState state_;
};

}  // namespace

absl::StatusOr<RecoveredState> ReplayStateRecords(const std::vector<std::string>& records, const std::string& job,
                                                  const std::vector<std::string>& node_names) {
  Replay replay(job, node_names);
  for (size_t i = 0; i < records.size(); ++i) {
    absl::StatusOr<StateRecord> record = DecodeStateRecord(records[i]);
    const absl::Status status = record.ok() ? std::visit(replay, *std::move(record)) : record.status();
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat("state record ", i + 1, " of ", records.size(), ": ", status.message()));
  }
  return replay.Take();
}

}  // namespace banyan
