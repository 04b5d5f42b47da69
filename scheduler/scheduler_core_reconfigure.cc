// `banyan reconfigure`: another overlay for the running job.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/overlay_change.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "topology/overlay_yaml.h"

namespace banyan {
namespace {

// A file with thousands of links may change each of them.
constexpr size_t kMostChangesTold = 20;

std::string Summary(std::vector<std::string> changes) {
  if (changes.empty()) return "nothing differs, and the planner was asked again";
  const size_t more = changes.size() - std::min(changes.size(), kMostChangesTold);
  changes.resize(changes.size() - more);
  return absl::StrCat(absl::StrJoin(changes, "; "), more > 0 ? absl::StrCat("; and ", more, " more") : "");
}

}  // namespace

void SchedulerCore::OnReconfigure(ConnectionId connection, const Reconfigure& message) {
  absl::StatusOr<Reconfiguration> checked = CheckReconfiguration(message);
  if (!checked.ok()) {
    LogInfo(absl::StrCat("a reconfiguration was refused: ", checked.status().message()));
    return outbox_.Send(connection, ReconfigureReply{false, std::string(checked.status().message())});
  }
  reconfiguration_ = *std::move(checked);
  reconfiguration_->connection = connection;
  if (!plan_.has_value()) PlanReconfiguration();
}

absl::StatusOr<SchedulerCore::Reconfiguration> SchedulerCore::CheckReconfiguration(const Reconfigure& message) const {
  if (phase_ != Phase::kRunning) {
    return absl::FailedPreconditionError(
        HasBegun() ? "the job has not started yet; change the file and start the scheduler again, or wait for the start"
                   : "there is no running job; start a new one with the file");
  }
  if (reconfiguration_.has_value()) {
    return absl::UnavailableError("another reconfiguration is being planned; try again when it is done");
  }
  if (policies_.size() >= kMostLivePolicies) {
    return absl::UnavailableError(absl::StrCat(
        policies_.size(), " policies govern open rounds; try again when the nodes have closed some of their rounds"));
  }
  Reconfiguration wanted;
  wanted.text = OverlayText{message.overlay_yaml, PrintableText(message.file_name, kMaxFileNameBytes)};
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(wanted.text.yaml, wanted.text.file_name);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> changes = CompareOverlays(overlay_, *overlay);
  if (!changes.ok()) return changes.status();
  if (absl::Status status = keys_.CheckChunks(overlay->chunks.max_elements); !status.ok()) return status;
  wanted.believed = MakeNetworkView(*overlay);
  absl::StatusOr<PlannerConfig> planner_config = MakePlannerConfig(*overlay, wanted.believed);
  if (!planner_config.ok()) return planner_config.status();
  wanted.planner_config = *std::move(planner_config);
  wanted.changes = Summary(*std::move(changes));
  wanted.overlay = *std::move(overlay);
  return wanted;
}

void SchedulerCore::PlanReconfiguration() {
  reconfiguration_->is_planning = true;
  LinkTable links = links_;
  links.Believe(reconfiguration_->believed);
  StartPlan(policies_.Current()->members, links.View(), reconfiguration_->planner_config,
            absl::StrCat("a reconfiguration with ", reconfiguration_->text.file_name, ": ", reconfiguration_->changes));
}

void SchedulerCore::FinishReconfiguration(Plan plan, absl::StatusOr<Policy> policy) {
  if (!policy.ok()) return RefuseReconfiguration(absl::StrCat("there is no such plan: ", policy.status().message()));
  Reconfiguration done = *std::exchange(reconfiguration_, std::nullopt);
  links_.Believe(std::move(done.believed));
  links_.MarkPlanned();
  overlay_ = std::move(done.overlay);
  planner_config_ = std::move(done.planner_config);
  formulation_ = Formulation(overlay_.topology, overlay_.awareness);
  formulation_.NotePlanned(now_);
  trial_.Forget();
  Adopt(*std::move(policy), std::move(plan), std::move(done.text));
  PublishNewest();
  outbox_.Send(done.connection,
               ReconfigureReply{true, absl::StrCat("policy ", last_policy_.value(), ": ", done.changes)});
}

void SchedulerCore::RefuseReconfiguration(const std::string& why) {
  if (!reconfiguration_.has_value()) return;
  LogInfo(absl::StrCat("a reconfiguration was refused: ", why));
  outbox_.SendUrgent(reconfiguration_->connection, ReconfigureReply{false, why});
  reconfiguration_.reset();
}

}  // namespace banyan
