// What a restarted scheduler takes from the records of its earlier starts.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "scheduler/link_budgets.h"
#include "scheduler/scheduler_core.h"
#include "topology/capped_rates.h"
#include "topology/overlay_yaml.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"

namespace banyan {

void SchedulerCore::Recover(const std::vector<std::string>& records) {
  std::vector<std::string> names;
  for (const Member& member : membership_.all()) names.push_back(member.name);
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(records, overlay_.job, names);
  start_error_ = state.ok() ? RestoreJob(*state) : state.status();
}

absl::Status SchedulerCore::RestoreJob(const RecoveredState& state) {
  term_ = state.last_term.Next();
  epoch_ = state.last_epoch;
  last_policy_ = state.last_policy;
  barrier_ = Barrier(state.next_barrier);
  for (const auto& [node, record] : state.nodes) {
    membership_.Restore(node, record.address, record.incarnation, state.spent_nodes.count(node) > 0);
  }
  if (!state.is_running()) return absl::OkStatus();
  if (absl::Status status = RestoreOverlay(state); !status.ok()) return status;
  if (absl::Status status = RestoreRounds(state); !status.ok()) return status;
  return RestorePolicies(state);
}

absl::Status SchedulerCore::RestoreOverlay(const RecoveredState& state) {
  const auto newest = std::find_if(state.policies.rbegin(), state.policies.rend(),
                                   [](const PolicyRecord& record) { return record.overlay.has_value(); });
  if (newest != state.policies.rend()) {
    absl::StatusOr<OverlayConfig> recorded = ParseOverlay(newest->overlay->yaml, newest->overlay->file_name);
    if (!recorded.ok()) return absl::DataLossError(absl::StrCat("a recorded overlay: ", recorded.status().message()));
    const bool same_nodes =
        std::equal(recorded->nodes.begin(), recorded->nodes.end(), overlay_.nodes.begin(), overlay_.nodes.end(),
                   [](const NodeConfig& a, const NodeConfig& b) { return a.name == b.name; });
    if (!same_nodes) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the job was reconfigured with ", newest->overlay->file_name,
          ", which has other nodes than the overlay now; bring its nodes back, or begin with a new state"));
    }
    overlay_.links = std::move(recorded->links);
    overlay_.topology = std::move(recorded->topology);
    overlay_.awareness = recorded->awareness;
    overlay_.multipath = recorded->multipath;
    overlay_.chunks = recorded->chunks;
    links_ = LinkTable(MakeNetworkView(overlay_));
    formulation_ = Formulation(overlay_.topology, overlay_.awareness);
    absl::StatusOr<PlannerConfig> planner_config = MakePlannerConfig(overlay_, links_.believed());
    if (!planner_config.ok()) return planner_config.status();
    planner_config_ = *std::move(planner_config);
    LogInfo(absl::StrCat("the job goes on as it was reconfigured with ", newest->overlay->file_name));
  }
  links_.Restore(state.policies.back().measured);
  published_view_ = links_.View();
  return absl::OkStatus();
}

absl::Status SchedulerCore::RestoreRounds(const RecoveredState& state) {
  for (const RegisterKeys::Key& key : state.keys) {
    const KeyTableVersion before = keys_.version();
    if (!keys_.Register(key.name, key.elements).ok() || keys_.version() == before) {
      return absl::DataLossError(absl::StrCat("the records have an impossible key '", key.name, "'"));
    }
  }
  std::set<PolicyVersion> versions;
  for (const PolicyRecord& record : state.policies) versions.insert(record.policy.version);
  for (const PolicyAnswer::Binding& binding : state.bindings) {
    if (!keys_.Contains(binding.key) || versions.count(binding.policy) == 0 || !rounds_.RestoreBinding(binding)) {
      return absl::DataLossError("the records have contradicting bindings");
    }
  }
  for (const ClosedEverywhere::Entry& round : state.closed) {
    if (!rounds_.RestoreClosed(round)) return absl::DataLossError("the records close a round that was not open");
  }
  const Policy& newest = state.policies.back().policy;
  rounds_.UsePolicy(newest.version, newest.members.size());
  return absl::OkStatus();
}

absl::Status SchedulerCore::RestorePolicies(const RecoveredState& state) {
  const std::map<NodeId, NodeAddress> addresses = Addresses();
  const PolicyVersion oldest = rounds_.OldestPolicy();
  for (const PolicyRecord& record : state.policies) {
    // No round needs those before: they were retired, or would have been.
    if (record.policy.version < oldest) continue;
    if (absl::Status status = ValidatePolicy(record.policy, links_.believed()); !status.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "policy ", record.policy.version.value(), " of the records does not fit the overlay: ", status.message(),
          "; bring the overlay back as it was, or begin with a new state"));
    }
    for (const NodeId member : record.policy.members) {
      if (state.nodes.count(member) == 0) return absl::DataLossError("the records have a member that never joined");
    }
    const NetworkView view = WithMeasured(links_.believed(), record.measured);
    links_.SetCappedRates(MakeCappedRates(record.policy, view));
    policies_.Add(record.policy, record.reason, view, record.transmission, addresses,
                  MakeLinkBudgets(record.policy, view, overlay_.compression, keys_.Elements()));
  }
  round_times_.NoteAdopted(now_, policies_.Current()->members, policies_.Current()->round_time);
  keys_.UseChunks(policies_.SmallestChunk());
  return absl::OkStatus();
}

}  // namespace banyan
