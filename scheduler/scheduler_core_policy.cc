// How policies are made, adopted and retired (NETSTORM, sections VII-A and VIII-B).
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "scheduler/job_config_maker.h"
#include "scheduler/link_budgets.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "topology/capped_rates.h"

namespace banyan {

void SchedulerCore::StartIfComplete() {
  if (phase_ != Phase::kJoining || membership_.joined() < membership_.start_with()) return;
  phase_ = Phase::kPlanning;
  epoch_ = epoch_.Next();
  std::vector<NodeId> members = membership_.Members();
  LogInfo(absl::StrCat(members.size() == overlay_.nodes.size() ? "all " : "", Count(members.size(), "node"),
                       " joined: epoch ", epoch_.value()));
  StartPlan(std::move(members), links_.View(), planner_config_, "the start");
}

void SchedulerCore::StartPlan(std::vector<NodeId> members, NetworkView view, PlannerConfig config, std::string why) {
  config.tensor_elements = keys_.Elements();
  last_computation_ = last_computation_.Next();
  std::optional<Policy> in_use;
  // What the operator wants is not weighed against what there is.
  if (policies_.Current() != nullptr && !reconfiguration_.has_value()) in_use = *policies_.Current();
  if (in_use.has_value()) config.current_trees = in_use->trees;
  outbox_.StartComputation(last_computation_, std::make_unique<PlanComputation>(view, members, std::move(config),
                                                                                std::move(in_use), trial_.former()));
  plan_ = Plan{last_computation_, std::move(members), std::move(view), std::move(why)};
  links_.MarkPlanned();
  formulation_.NotePlanned(now_);
}

void SchedulerCore::On(ComputationFinished& event) {
  // A plan that a change of membership has overtaken is forgotten.
  if (!plan_.has_value() || event.computation != plan_->id) return;
  auto* computation = dynamic_cast<PlanComputation*>(event.result.get());
  BANYAN_CHECK(computation != nullptr);
  absl::StatusOr<Policy> policy = computation->TakePolicy();
  Plan plan = *std::exchange(plan_, std::nullopt);
  if (phase_ == Phase::kPlanning) {
    if (policy.ok()) return StartRunning(std::move(plan), *std::move(policy));
    return Fail(policy.status().code(), absl::StrCat("planning failed: ", policy.status().message()));
  }
  if (phase_ != Phase::kRunning) return;
  if (reconfiguration_.has_value()) {
    // The plan that was being made before is of the past.
    if (!reconfiguration_->is_planning) return PlanReconfiguration();
    return FinishReconfiguration(std::move(plan), std::move(policy));
  }
  if (!policy.ok()) trial_.Forget();
  if (policy.ok()) return FinishReplan(std::move(plan), *std::move(policy), *computation);
  outbox_.Log(LogLevel::kWarning, absl::StrCat("planning failed, and the policy stays: ", policy.status().message()));
}

void SchedulerCore::StartRunning(Plan plan, Policy policy) {
  phase_ = Phase::kRunning;
  membership_.Start();
  Adopt(std::move(policy), std::move(plan), std::nullopt);
  membership_due_.reset();
  Broadcast(MakeMembershipUpdate());
  PublishNewest();
  TakeEarlyRequests();
}

void SchedulerCore::TakeEarlyRequests() {
  for (const Member& member : membership_.all()) {
    if (!member.is_member) ForgetRequests(member.id);
  }
  for (const WaitingKeys::Entry& waiting : waiting_keys_.TakeAll()) RegisterAll(waiting.node, {waiting.key});
  // Entering once more releases it when all are there.
  if (!barrier_.entered().empty()) OnNode(*barrier_.entered().begin(), BarrierEntered{barrier_.next()});
}

void SchedulerCore::Adopt(Policy policy, Plan plan, std::optional<OverlayText> overlay) {
  last_policy_ = last_policy_.Next();

  policy.version = last_policy_;
  policy.epoch = epoch_;
  policy.key_table = keys_.version();
  policy.roots_fixed = KeepsStateAtRoots();
  LogInfo(absl::StrFormat("policy %d: %s, %s, rate %.3g (%.3g with detours) of at most %.3g Mbit/s, because of %s",
                          policy.version.value(), policy.planner, Count(policy.trees.size(), "tree"),
                          policy.rate_bps / 1e6, policy.detour_rate_bps / 1e6, policy.bound_bps / 1e6, plan.why));
  const TransmissionSettings transmission = MakeTransmissionSettings(overlay_);
  Persist(PolicyRecord{policy, plan.why, transmission, MeasuredLinks(plan.view), std::move(overlay)});
  rounds_.UsePolicy(policy.version, policy.members.size());
  LinkBudgets budgets = MakeLinkBudgets(policy, plan.view, overlay_.compression, keys_.Elements());
  links_.SetCappedRates(MakeCappedRates(policy, plan.view));
  policies_.Add(std::move(policy), std::move(plan.why), plan.view, transmission, Addresses(), budgets);
  published_view_ = std::move(plan.view);
  formulation_.NoteAdopted(now_);
  round_times_.NoteAdopted(now_, policies_.Current()->members, policies_.Current()->round_time);
}

void SchedulerCore::PublishNewest() {
  for (const Member& member : membership_.all()) {
    const std::vector<const PolicySlice*> slices = policies_.SlicesOf(member.id);
    if (!slices.empty() && slices.back()->version == last_policy_) {
      SendTo(member.id, PolicyPublished{term_, *slices.back()});
    }
  }
  RetirePolicies();
}

void SchedulerCore::Publish(const Member& member) {
  if (keys_.Contains(KeyId(1))) {
    const KeyId last(static_cast<uint32_t>(keys_.version().value()));
    SendTo(member.id,
           KeysAssigned{term_, keys_.version(), keys_.Rows(KeyId(1), last, policies_.Current()->members.front())});
  }
  SendTo(member.id, PoliciesRetired{term_, policies_.Oldest()});
  for (const PolicySlice* slice : policies_.SlicesOf(member.id)) SendTo(member.id, PolicyPublished{term_, *slice});
}

void SchedulerCore::ReplanIfWanted() {
  if (!MayReplan()) return;
  std::optional<Formulation::Reason> reason = formulation_.LookForReason(now_, links_, round_times_);
  if (!reason.has_value() && TrialLooksBad()) reason = {"rounds that are slower than they were", kMostGain};
  if (!reason.has_value()) return;
  if (policies_.size() >= kMostLivePolicies) {
    return LogInfo(absl::StrCat(policies_.size(), " policies govern open rounds: no other is made before some close"));
  }
  StartPlan(policies_.Current()->members, links_.View(), KeepRoots(planner_config_), std::move(reason->why));
  plan_->least_gain = reason->least_gain;
}

void SchedulerCore::FinishReplan(Plan plan, Policy policy, PlanComputation& computation) {
  if (TrialLooksBad() && TakeBack(plan, computation.former_round_time())) return;
  PlanComputation::InUse in_use = computation.TakeInUse();
  const Timestamp since = EvidenceSince();
  const absl::Duration predicted = in_use.as_published.round_time;
  in_use.as_published.round_time = round_times_.Credible(predicted, since);
  Verdict verdict = Judge(in_use.as_published, published_view_, policy, plan.view, plan.least_gain);
  const absl::string_view held =
      trial_.WhyHeld(now_, round_times_.Governed(), round_times_.GovernedFor(now_), plan.view);
  if (verdict.kind != Verdict::Kind::kKeep && !held.empty()) {
    verdict = {Verdict::Kind::kKeep, absl::StrCat(verdict.why, ", but ", held)};
  }
  predicted_round_ = (verdict.kind == Verdict::Kind::kAdopt ? policy : in_use.as_published).round_time;
  plan.why = absl::StrCat(plan.why, ", and ", verdict.why);
  if (verdict.kind == Verdict::Kind::kKeep) {
    round_times_.Learn(predicted, since);
    return outbox_.Log(LogLevel::kDebug,
                       absl::StrCat("policy ", in_use.as_published.version.value(), " stays: ", plan.why));
  }
  if (verdict.kind == Verdict::Kind::kRefresh) policy = std::move(in_use.refreshed);
  BeginTrial(plan, predicted);
  Adopt(std::move(policy), std::move(plan), std::nullopt);
  PublishNewest();
}

void SchedulerCore::BeginTrial(const Plan& plan, absl::Duration predicted) {
  const std::optional<absl::Duration> last = round_times_.Last(EvidenceSince());
  const bool is_known = predicted > absl::ZeroDuration() && predicted < absl::InfiniteDuration();
  if (!last.has_value() || round_times_.Governed().empty() || !is_known) return;
  trial_.Begin(*policies_.Current(), plan.view, predicted,
               std::max(*last, PolicyTrial::Median(round_times_.Governed())));
}

bool SchedulerCore::TrialLooksBad() {
  return trial_.LooksSlower(round_times_.Governed(), round_times_.GovernedFor(now_));
}

bool SchedulerCore::TakeBack(Plan plan, absl::Duration predicted) {
  const absl::Duration takes = PolicyTrial::Median(round_times_.Governed());
  Policy former = *trial_.former();
  const std::string why =
      absl::StrFormat("rounds of %.3g s under policy %d, where policy %d took %.3g", absl::ToDoubleSeconds(takes),
                      last_policy_.value(), former.version.value(), absl::ToDoubleSeconds(trial_.took()));
  if (!trial_.End(now_, round_times_.Governed(), predicted, plan.view)) {
    LogInfo(absl::StrCat("policy ", last_policy_.value(), " stays in spite of ", why,
                         ": by the links as they are now that would be slower too"));
    return false;
  }
  predicted_round_ = predicted;
  plan.why = absl::StrCat(why, ", which comes back");
  Adopt(std::move(former), std::move(plan), std::nullopt);
  PublishNewest();
  return true;
}

Timestamp SchedulerCore::EvidenceSince() const {
  const Timestamp changed = links_.last_change().value_or(Timestamp());
  if (round_times_.Last(changed).has_value()) return changed;
  // Links that never settle leave no time for a round: then those count that ran while they did not.
  return now_ + -kLongestPostponement * overlay_.topology.update_interval;
}

PlannerConfig SchedulerCore::KeepRoots(PlannerConfig config) const {
  if (!KeepsStateAtRoots()) return config;
  const Policy& current = *policies_.Current();
  for (const Tree& tree : current.trees) config.fixed_roots.push_back(FixedRoot{tree.root, tree.share});
  config.chunk_max_elements = current.chunk_max_elements;
  return config;
}

// No optimizer does: members step it alike.
bool SchedulerCore::KeepsStateAtRoots() const { return false; }

void SchedulerCore::RetirePolicies() {
  const PolicyVersion oldest = rounds_.OldestPolicy();
  if (policies_.Retire(oldest)) Broadcast(PoliciesRetired{term_, oldest});
  if (policies_.size() == 1) round_times_.NoteGoverning(now_);
  keys_.UseChunks(policies_.SmallestChunk());
}

std::map<NodeId, NodeAddress> SchedulerCore::Addresses() const {
  std::map<NodeId, NodeAddress> addresses;
  for (const Member& member : membership_.all()) addresses[member.id] = NodeAddress{member.address, member.incarnation};
  return addresses;
}

}  // namespace banyan
