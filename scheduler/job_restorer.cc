#include "scheduler/job_restorer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/overlay_change.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/policy_check.h"

namespace banyan {
namespace {

// Returns whether the nodes of `recorded` are those of `now`, and perhaps more.
bool HasNodesOf(const OverlayConfig& recorded, const OverlayConfig& now) {
  return recorded.nodes.size() >= now.nodes.size() &&
         std::equal(now.nodes.begin(), now.nodes.end(), recorded.nodes.begin(),
                    [](const NodeConfig& left, const NodeConfig& right) { return left.name == right.name; });
}

}  // namespace

void JobRestorer::RestoreNumbers(JobState& job, PolicyPublisher& publisher) const {
  job.Restore(state_.last_term.Next(), state_.last_epoch);
  publisher.RestoreVersion(state_.last_policy);
}

void JobRestorer::RestoreNodes(JobMembers& members) const {
  const std::vector<Member>& all = members.table().all();
  for (const auto& [node, record] : state_.nodes) {
    const bool is_spent = state_.spent_nodes.count(node) > 0;
    // Of a job that is over, whose nodes were others.
    if (is_spent && (node.value() > all.size() || all[node.value() - 1].name != record.name)) continue;
    members.Restore(record, is_spent);
  }
}

absl::Status JobRestorer::CheckSettings(const OverlayConfig& overlay) const {
  // What the job was reconfigured with is in `overlay` by now.
  const bool is_as_started = !state_.overlay.has_value();
  return CompareSettings(state_.settings, is_as_started ? StartSettings(overlay) : FixedSettings(overlay),
                         overlay.file_name);
}

std::optional<SettingsRecord> JobRestorer::NewSettings(const OverlayConfig& overlay) const {
  SettingsRecord record{StartSettings(overlay)};
  if (!is_running()) return record.settings == state_.settings ? std::nullopt : std::optional(std::move(record));
  std::erase_if(record.settings, [this](const auto& setting) { return state_.settings.count(setting.first) > 0; });
  return record.settings.empty() ? std::nullopt : std::optional(std::move(record));
}

absl::StatusOr<std::optional<std::string>> JobRestorer::RestoreOverlay(OverlayConfig& overlay) const {
  if (!state_.overlay.has_value()) return std::nullopt;
  const OverlayText& text = *state_.overlay;
  absl::StatusOr<OverlayConfig> recorded = ParseOverlay(text.yaml, text.file_name);
  if (!recorded.ok()) return absl::DataLossError(absl::StrCat("a recorded overlay: ", recorded.status().message()));
  if (!HasNodesOf(*recorded, overlay)) {
    return absl::FailedPreconditionError(absl::StrCat("the job was reconfigured with ", text.file_name,
                                                      ", which has other nodes than the overlay now; bring its nodes "
                                                      "back, or begin with a new state (another --state-dir)"));
  }
  for (const auto& [node, record] : state_.nodes) {
    const size_t position = node.value();
    if (state_.spent_nodes.count(node) > 0) continue;
    if (position <= recorded->nodes.size() && recorded->nodes[position - 1].name == record.name) continue;
    return absl::DataLossError(absl::StrCat("a recorded overlay without node ", position, ", '", record.name, "'"));
  }
  overlay.nodes = std::move(recorded->nodes);
  overlay.operators = std::move(recorded->operators);
  overlay.observers = std::move(recorded->observers);
  overlay.links = std::move(recorded->links);
  overlay.shared = std::move(recorded->shared);
  overlay.topology = std::move(recorded->topology);
  overlay.awareness = recorded->awareness;
  overlay.multipath = recorded->multipath;
  overlay.chunks = recorded->chunks;
  return text.file_name;
}

absl::Status JobRestorer::RestoreKeys(KeyRegistrar& keys, JobRounds& rounds) const {
  if (absl::Status status = keys.Restore(state_.keys); !status.ok()) return status;
  const Policy& newest = state_.policies.back().policy;
  rounds.UsePolicy(newest.version, newest.members.size(), newest.chunk_max_elements);
  return absl::OkStatus();
}

absl::Status JobRestorer::RestorePolicies(const NetworkView& believed, const JobRounds& rounds,
                                          PolicyPublisher& publisher) const {
  const PolicyVersion oldest = rounds.OldestPolicy();
  for (const PolicyRecord& record : state_.policies) {
    // No round needs those before: they were retired, or would have been.
    if (record.policy.version < oldest) continue;
    const NetworkView view = WithMeasured(WithoutLinks(believed, record.left_out), record.measured);
    if (absl::Status status = CheckPolicy(record.policy, view); !status.ok()) return status;
    publisher.Restore(record, view);
  }
  return absl::OkStatus();
}

void JobRestorer::RestoreMembers(JobMembers& members) const {
  members.RestoreStarted(state_.members);
  for (const NodeId node : state_.removed_nodes) members.RestoreRemoved(node);
}

absl::Status JobRestorer::CheckPolicy(const Policy& policy, const NetworkView& view) const {
  if (absl::Status status = ValidatePolicy(policy, view); !status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("policy ", policy.version.value(), " of the records does not fit the overlay: ", status.message(),
                     "; bring the overlay back as it was, or begin with a new state (another --state-dir)"));
  }
  for (const NodeId member : policy.members) {
    if (state_.nodes.count(member) == 0) return absl::DataLossError("the records have a member that never joined");
  }
  return absl::OkStatus();
}

}  // namespace banyan
