#include "scheduler/policy/policy_control.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/policy/overlay_reading.h"
#include "scheduler/policy/plan_computation.h"
#include "topology/overlay/overlay_network.h"
#include "topology/planner_factory.h"

namespace banyan {

PolicyControl::PolicyControl(OverlayConfig* overlay, const JobState* job, KeyRegistrar* keys, JobRounds* rounds,
                             JobMembers* members, SchedulerContext* context)
    : overlay_(overlay),
      job_(job),
      keys_(keys),
      rounds_(rounds),
      members_(members),
      context_(context),
      publisher_(overlay, job, &keys->table(), members, context),
      reconfigurator_(overlay, job, &keys->table(), &publisher_.policies(), context),
      replanner_(*overlay, MakeNetworkView(*overlay), PlannerConfig(), &keys->table(), &publisher_.policies()),
      cutter_(job, members, rounds, context) {}

absl::Status PolicyControl::Configure() {
  NetworkView believed = MakeNetworkView(*overlay_);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(*overlay_, believed);
  if (!config.ok()) return config.status();
  replanner_ = Replanner(*overlay_, std::move(believed), *std::move(config), &keys_->table(), &publisher_.policies());
  return absl::OkStatus();
}

void PolicyControl::Start(Purpose purpose, PlanRequest request) {
  purpose_ = purpose;
  context_->outbox.StartComputation(request.id, std::move(request.computation));
}

void PolicyControl::PlanForStart(std::vector<NodeId> members) {
  replanner_.OnBeginning(context_->now);
  Start(Purpose::kStart, replanner_.PlanForStart(context_->now, std::move(members)));
}

void PolicyControl::PlanForEpoch(std::vector<NodeId> members, const std::string& reason) {
  DropPlan();
  epoch_members_ = members;
  epoch_reason_ = reason;
  if (!reconfigurator_.is_pending()) {
    return Start(Purpose::kEpoch, replanner_.PlanForEpoch(context_->now, std::move(members), reason));
  }
  const Reconfiguration& wanted = reconfigurator_.BeginPlanning();
  Start(Purpose::kEpoch,
        replanner_.PlanForReconfiguration(context_->now, std::move(members), wanted.believed, wanted.planner_config,
                                          absl::StrCat(reason, ", and ", wanted.Reason()), /*is_for_epoch=*/true));
}

void PolicyControl::AwaitMembers(const std::string& why) {
  DropPlan();
  too_few_ = why;
  AcceptWithoutPlan();
}

void PolicyControl::DropPlan() {
  replanner_.DropPlan();
  reconfigurator_.ReturnToPending();
  purpose_ = Purpose::kNone;
  epoch_failure_.clear();
  joint_failure_.clear();
  too_few_.clear();
}

bool PolicyControl::MayReplan() const {
  return job_->IsRunning() && !rounds_->is_frozen() && !reconfigurator_.is_pending();
}

absl::Status PolicyControl::OnLinkReport(NodeId from, const std::vector<NodeReport::Link>& links) {
  absl::Status status = replanner_.OnLinkReport(context_->now, from, links);
  ReplanIfWanted();
  return status;
}

void PolicyControl::ReplanIfWanted() {
  const bool has_returned = replanner_.TakeReturnedLinks(context_->now);
  have_links_returned_ = have_links_returned_ || (has_returned && job_->IsRunning());
  if (has_returned && !epoch_failure_.empty()) PlanForEpoch(epoch_members_, epoch_reason_);
  if (!MayReplan()) return;
  PlanLook look = replanner_.Look(context_->now);
  if (look.request.has_value()) return Start(Purpose::kChange, *std::move(look.request));
  if (!look.why.empty()) context_->LogInfo(std::move(look.why));
}

Timestamp PolicyControl::NextDeadline() const {
  if (!job_->IsRunning()) return kNever;
  return std::min(replanner_.NextReturn(), MayReplan() ? replanner_.NextLook() : kNever);
}

void PolicyControl::Reconfigure(ConnectionId connection, const banyan::Reconfigure& message) {
  reconfigurator_.Request(connection, message);
}

void PolicyControl::Resume() {
  // A plan that nobody has ordered is of the past.
  const bool must_wait = replanner_.is_planning() && purpose_ != Purpose::kChange;
  if (reconfigurator_.is_pending() && !must_wait) PlanReconfiguration();
}

std::optional<PlanDecision> PolicyControl::OnComputation(ComputationFinished& event) {
  if (reconfigurator_.IsReading(event.computation)) {
    auto* reading = dynamic_cast<OverlayReading*>(event.result.get());
    BANYAN_CHECK(reading != nullptr);
    if (!reconfigurator_.OnRead(*reading)) return std::nullopt;
    // It may be what a plan for the epoch lacks.
    if (!epoch_failure_.empty()) PlanForEpoch(epoch_members_, epoch_reason_);
    if (!too_few_.empty()) AcceptWithoutPlan();
    if (!rounds_->is_frozen()) Resume();
    return std::nullopt;
  }
  // A plan that a change of membership has overtaken is forgotten.
  if (!replanner_.IsPlanning(event.computation)) return std::nullopt;
  auto* computation = dynamic_cast<PlanComputation*>(event.result.get());
  BANYAN_CHECK(computation != nullptr);
  if (job_->IsOver()) {
    DropPlan();
    return std::nullopt;
  }
  const Purpose purpose = std::exchange(purpose_, Purpose::kNone);
  PlanDecision decision = replanner_.OnPlanFinished(context_->now, event.computation, *computation);
  if (purpose == Purpose::kStart) return decision;
  if (purpose == Purpose::kEpoch) return FinishEpoch(std::move(decision));
  if (purpose == Purpose::kReconfiguration) {
    FinishReconfiguration(std::move(decision));
  } else {
    FinishReplan(std::move(decision));
  }
  return std::nullopt;
}

std::optional<PlanDecision> PolicyControl::FinishEpoch(PlanDecision decision) {
  if (decision.kind != PlanDecision::Kind::kFail) {
    if (!joint_failure_.empty()) {
      reconfigurator_.Refuse(absl::StrCat("there is no such plan: ", std::exchange(joint_failure_, "")));
    }
    return decision;
  }
  if (reconfigurator_.is_planning()) {
    // Whether it is to blame, a plan without it shows.
    reconfigurator_.ReturnToPending();
    joint_failure_ = decision.reason;
    Start(Purpose::kEpoch, replanner_.PlanForEpoch(context_->now, epoch_members_, epoch_reason_));
    return std::nullopt;
  }
  if (reconfigurator_.is_pending() && joint_failure_.empty()) {
    PlanForEpoch(epoch_members_, epoch_reason_);
    return std::nullopt;
  }
  epoch_failure_ = joint_failure_.empty() ? decision.reason : std::exchange(joint_failure_, "");
  // There is nothing better to do than to try the links again that are left out.
  replanner_.ReturnLinksBy(context_->now + overlay_->membership.lost_after);
  context_->LogWarning(absl::StrCat("epoch ", job_->epoch().value(),
                                    " waits, since there is no plan for its members: ", epoch_failure_));
  AcceptWithoutPlan();
  return decision;
}

void PolicyControl::AcceptWithoutPlan() {
  if (!reconfigurator_.is_pending()) return;
  Reconfiguration done = reconfigurator_.Take();
  Change(done);
  context_->Persist(OverlayRecord{done.text});
  const std::string& why = too_few_.empty() ? epoch_failure_ : too_few_;
  const std::string outcome = absl::StrCat("no policy yet, since epoch ", job_->epoch().value(), " waits (", why, ")");
  context_->LogInfo(absl::StrCat(done.Reason(), ": ", outcome));
  Accept(done, outcome);
}

void PolicyControl::FinishReplan(PlanDecision decision) {
  if (!decision.note.empty()) context_->LogInfo(decision.note);
  switch (decision.kind) {
    case PlanDecision::Kind::kAdopt:
    case PlanDecision::Kind::kGoBack:
      Adopt(std::move(decision));
      return Announce();
    case PlanDecision::Kind::kKeep:
      return context_->outbox.Log(
          LogLevel::kDebug, absl::StrCat("policy ", publisher_.last_version().value(), " stays: ", decision.reason));
    case PlanDecision::Kind::kFail:
      return context_->LogWarning(absl::StrCat("planning failed, and the policy stays: ", decision.reason));
  }
}

void PolicyControl::Adopt(PlanDecision decision) {
  std::optional<Reconfiguration> done;
  if (reconfigurator_.is_planning()) {
    done = reconfigurator_.Take();
    Change(*done);
  }
  publisher_.Put(std::move(decision.policy), std::move(decision.reason), decision.view,
                 done.has_value() ? std::optional(done->text) : std::nullopt);
  UseNewest();
  replanner_.OnAdopted(context_->now, decision.view);
  if (done.has_value()) Accept(*done, absl::StrCat("policy ", publisher_.last_version().value()));
}

void PolicyControl::Change(Reconfiguration& done) {
  done.overlay.low_bit = overlay_->low_bit;
  *overlay_ = std::move(done.overlay);
  replanner_.OnReconfigured(context_->now, *overlay_, std::move(done.believed), std::move(done.planner_config));
  members_->AddNodes();
  rounds_->SetNodeNames(NodeNames(*overlay_));
}

void PolicyControl::Accept(const Reconfiguration& done, const std::string& outcome) {
  // After the record of the overlay: without it keys would count again that the overlay withdraws.
  const std::vector<std::string> back = members_->LetRemovedIn();
  std::string text = absl::StrCat(outcome, ": ", done.changes);
  if (!back.empty()) absl::StrAppend(&text, "; may join again: ", absl::StrJoin(back, ", "));
  if (!members_->IsOperator(reconfigurator_.connection())) text += "; the key that gave this order counts no more";
  reconfigurator_.Accept(std::move(text));
  // After the answer, which would have no way to an asker who is listed no more.
  members_->PublishKeys();
}

void PolicyControl::Announce() {
  publisher_.SendNewest();
  RetirePolicies();
}

void PolicyControl::UseNewest() {
  const Policy& newest = *policies().Current();
  rounds_->UsePolicy(publisher_.last_version(), newest.members.size(), newest.chunk_max_elements);
}

void PolicyControl::RetirePolicies() {
  publisher_.Retire(rounds_->OldestPolicy());
  if (policies().size() == 1) replanner_.OnGoverningAlone(context_->now);
  keys_->UseChunks(policies().SmallestChunk());
}

void PolicyControl::PlanReconfiguration() {
  const Reconfiguration& wanted = reconfigurator_.BeginPlanning();
  Start(Purpose::kReconfiguration,
        replanner_.PlanForReconfiguration(context_->now, policies().Current()->members, wanted.believed,
                                          wanted.planner_config, wanted.Reason()));
}

void PolicyControl::FinishReconfiguration(PlanDecision decision) {
  if (decision.kind == PlanDecision::Kind::kFail) {
    return reconfigurator_.Refuse(absl::StrCat("there is no such plan: ", decision.reason));
  }
  Adopt(std::move(decision));
  Announce();
}

}  // namespace banyan
