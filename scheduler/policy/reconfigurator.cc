#include "scheduler/policy/reconfigurator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "scheduler/peer_text.h"
#include "scheduler/policy/overlay_change.h"
#include "scheduler/scheduler_limits.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// A file with thousands of links may change each of them.
constexpr size_t kMostChangesTold = 20;

std::string Summarize(std::vector<std::string> changes) {
  if (changes.empty()) return "nothing differs, and the planner was asked again";
  const size_t more = changes.size() - std::min(changes.size(), kMostChangesTold);
  changes.resize(changes.size() - more);
  return absl::StrCat(absl::StrJoin(changes, "; "), more > 0 ? absl::StrCat("; and ", more, " more") : "");
}

}  // namespace

std::string Reconfiguration::Reason() const {
  return absl::StrCat("a reconfiguration with ", text.file_name, ": ", changes);
}

bool Reconfigurator::Request(ConnectionId connection, const Reconfigure& message) {
  absl::StatusOr<Reconfiguration> checked = Check(message);
  if (!checked.ok()) {
    context_->LogInfo(absl::StrCat("a reconfiguration was refused: ", checked.status().message()));
    context_->outbox.Send(connection, OperatorReply{false, std::string(checked.status().message())});
    return false;
  }
  pending_ = *std::move(checked);
  connection_ = connection;
  is_planning_ = false;
  return true;
}

absl::Status Reconfigurator::CheckTime() const {
  if (!job_->IsRunning()) {
    return absl::FailedPreconditionError(
        job_->IsStarting()
            ? "the job has not started yet; change the file and start the scheduler again, or wait for the start"
            : "there is no running job; start a new one with the file");
  }
  if (is_pending()) {
    return absl::UnavailableError("another reconfiguration is being planned; try again when it is done");
  }
  if (policies_->size() >= kMostLivePolicies) {
    return absl::UnavailableError(absl::StrCat(
        policies_->size(), " policies govern open rounds; try again when the nodes have closed some of their rounds"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Reconfiguration> Reconfigurator::Check(const Reconfigure& message) const {
  if (absl::Status status = CheckTime(); !status.ok()) return status;
  Reconfiguration wanted;
  wanted.text = OverlayText{message.overlay_yaml, PrintableText(message.file_name, kMaxFileNameBytes)};
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(wanted.text.yaml, wanted.text.file_name);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> changes = CompareOverlays(*running_, *overlay);
  if (!changes.ok()) return changes.status();
  if (absl::Status status = keys_->CheckChunks(overlay->chunks.max_elements); !status.ok()) return status;
  wanted.believed = MakeNetworkView(*overlay);
  absl::StatusOr<PlannerConfig> planner_config = MakePlannerConfig(*overlay, wanted.believed);
  if (!planner_config.ok()) return planner_config.status();
  wanted.planner_config = *std::move(planner_config);
  wanted.changes = Summarize(*std::move(changes));
  wanted.overlay = *std::move(overlay);
  return wanted;
}

const Reconfiguration& Reconfigurator::BeginPlanning() {
  BANYAN_CHECK(is_pending());
  is_planning_ = true;
  return *pending_;
}

Reconfiguration Reconfigurator::Take() {
  BANYAN_CHECK(is_pending());
  is_planning_ = false;
  return *std::exchange(pending_, std::nullopt);
}

void Reconfigurator::Accept(const Reconfiguration& done, PolicyVersion policy) {
  context_->outbox.Send(connection_, OperatorReply{true, absl::StrCat("policy ", policy.value(), ": ", done.changes)});
}

void Reconfigurator::Refuse(const std::string& why) {
  if (!is_pending()) return;
  context_->LogInfo(absl::StrCat("a reconfiguration was refused: ", why));
  context_->outbox.SendUrgent(connection_, OperatorReply{false, why});
  pending_.reset();
  is_planning_ = false;
}

}  // namespace banyan
