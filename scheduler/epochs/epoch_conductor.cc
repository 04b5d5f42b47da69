#include "scheduler/epochs/epoch_conductor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/message_parts.h"
#include "scheduler/epochs/epoch_plan_maker.h"

namespace banyan {
namespace {

// Returns the plan in as many messages as its receivers take.
std::vector<EpochPlan> PartsOf(Term term, const EpochPlanRecord& plan) {
  std::vector<EpochPlan> parts;
  const auto add = [&](std::vector<EpochPlan::Frontier> frontiers, std::vector<EpochPlan::Binding> bindings) {
    parts.push_back({term, plan.epoch, plan.policy, std::move(frontiers), std::move(bindings),
                     static_cast<uint32_t>(parts.size()), /*has_more=*/true});
  };
  constexpr auto kMostEntries = static_cast<size_t>(WireLimits().max_entries);
  if (std::max(plan.frontiers.size(), plan.bindings.size()) <= kMostEntries) add(plan.frontiers, plan.bindings);
  if (parts.empty() || !IsTakenWhole(parts.front())) {
    parts.clear();
    SendInParts(plan.frontiers, [&](std::vector<EpochPlan::Frontier> part) { add(std::move(part), {}); });
    SendInParts(plan.bindings, [&](std::vector<EpochPlan::Binding> part) { add({}, std::move(part)); });
  }
  parts.back().has_more = false;
  return parts;
}

}  // namespace

void EpochConductor::Start(PlanDecision decision, const std::string& reason) {
  parts_.job->Run();
  parts_.members->Start();
  parts_.context->Persist(EpochRecord{parts_.job->epoch(), table().EpochMembers(), reason});
  parts_.policies->Adopt(std::move(decision));
  const EpochPlanRecord plan = {parts_.job->epoch(), parts_.policies->publisher().last_version(), {}, {}};
  parts_.context->Persist(plan);
  parts_.members->SendUpdate();
  parts_.policies->publisher().SendNewest();
  SendPlan(plan);
  parts_.policies->RetirePolicies();
}

std::vector<NodeId> EpochConductor::Begin(const std::set<NodeId>& fallen, const std::set<NodeId>& held_back,
                                          const std::string& reason) {
  std::vector<NodeId> expelled = ExpelMembers(fallen);
  parts_.job->BeginEpoch();
  const std::vector<NodeId> joiners = AdmitJoiners(held_back);
  const std::vector<EpochMember> members = table().EpochMembers();
  const Epoch epoch = parts_.job->epoch();
  parts_.context->Persist(EpochRecord{epoch, members, reason});
  parts_.context->LogInfo(
      absl::StrCat("epoch ", epoch.value(), " begins with ", CountOf(members.size(), "member"), ": ", reason));
  parts_.rounds->Freeze();
  for (const NodeId node : joiners) {
    parts_.members->Welcome(node);
    parts_.keys->SendAll(node);
  }
  parts_.members->Broadcast(EpochBegin{parts_.job->term(), epoch, reason});
  parts_.members->SendUpdate();
  parts_.transfers->OnMembersChanged();
  parts_.quorum->OnMembersChanged();
  parts_.traces->OnMembersChanged();
  return expelled;
}

std::vector<NodeId> EpochConductor::ExpelMembers(const std::set<NodeId>& fallen) {
  std::vector<NodeId> expelled;
  for (const NodeId node : table().Members()) {
    if (!fallen.contains(node) && table().Find(node).state != MemberState::kLeft) continue;
    parts_.members->Expel(node);
    parts_.keys->Forget(node);
    parts_.barriers->Drop(node);
    parts_.reports->Forget(node);
    expelled.push_back(node);
  }
  parts_.members->PublishKeys();
  return expelled;
}

std::vector<NodeId> EpochConductor::AdmitJoiners(const std::set<NodeId>& held_back) {
  std::vector<NodeId> joiners;
  const uint64_t barriers_before = parts_.barriers->BeforeJoiner();
  for (const NodeId node : parts_.members->waiting().Nodes()) {
    if (table().Find(node).is_member || held_back.contains(node)) continue;
    if (parts_.members->Admit(node, parts_.job->epoch(), barriers_before)) joiners.push_back(node);
  }
  return joiners;
}

void EpochConductor::Finish(PlanDecision decision, const EpochReports& held) {
  PolicyControl& policies = *parts_.policies;
  policies.Adopt(std::move(decision));
  const EpochPlanRecord plan = MakeEpochPlan(parts_.job->epoch(), policies.publisher().last_version(), held,
                                             parts_.keys->table(), *parts_.rounds, policies.policies());
  parts_.context->Persist(plan);
  const std::vector<NodeId> members = table().Members();
  RoundOutcome outcome = parts_.rounds->Rebind(parts_.context->now, plan, members);
  policies.publisher().SendNewest();
  SendPlan(plan);
  policies.RetirePolicies();
  for (const NodeId node : members) parts_.announcer->SendClosed(node, parts_.rounds->ClosedBeyond());
  parts_.announcer->Announce(NodeId(), std::move(outcome));
  if (parts_.keys->RegisterWaiting(*parts_.rounds)) policies.replanner().OnModelGrown(parts_.context->now);
  parts_.barriers->Review();
  parts_.members->SendUpdate();
  policies.Resume();
  parts_.transfers->OnEpochPlanned();
}

void EpochConductor::OnLeave(bool is_first) {
  if (is_first) parts_.rounds->SetDeparted();
  parts_.barriers->Review();
}

void EpochConductor::SendPlan(const EpochPlanRecord& plan) {
  for (const EpochPlan& part : PartsOf(parts_.job->term(), plan)) parts_.members->Broadcast(part);
}

void EpochConductor::SendState(NodeId node, const std::string& reason) {
  parts_.keys->SendAll(node);
  parts_.policies->publisher().SendAll(node);
  if (parts_.rounds->is_frozen()) {
    return parts_.members->SendTo(node, EpochBegin{parts_.job->term(), parts_.job->epoch(), reason});
  }
  const EpochPlanRecord plan =
      RepeatEpochPlan(parts_.job->epoch(), parts_.keys->table(), *parts_.rounds, parts_.policies->policies());
  for (EpochPlan& part : PartsOf(parts_.job->term(), plan)) parts_.members->SendTo(node, std::move(part));
  parts_.announcer->SendClosed(node, parts_.rounds->ClosedBeyond());
  parts_.policies->OnRejoined(node);
}

}  // namespace banyan
