#include "scheduler/policy/replanner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "scheduler/scheduler_limits.h"
#include "topology/evaluation/plan_rate.h"

namespace banyan {
namespace {

using Kind = PlanDecision::Kind;

// With more links than a mesh of 140 nodes has, each interval would take too long.
constexpr size_t kMostLinksToInferOf = 20000;

// The other estimator does not tell whether a link was busy.
bool InfersSharing(const OverlayConfig& overlay, const NetworkView& view) {
  return overlay.awareness.enabled && overlay.awareness.estimator == RateEstimator::kDelivery &&
         view.links().size() <= kMostLinksToInferOf;
}

// Who knows rates knows of which links. With more nodes there are too many ways.
constexpr size_t kMostNodesForWays = 24;

bool InfersWays(const OverlayConfig& overlay, const NetworkView& view) {
  return InfersSharing(overlay, view) && view.nodes().size() <= kMostNodesForWays &&
         std::all_of(view.links().begin(), view.links().end(), [](const NetworkLink& link) { return link.is_guessed; });
}

// Of so many nodes even the best plan takes less than a second.
constexpr size_t kMostNodesPlannedAtOnce = 12;

// Whether the best plan takes longer than members may wait for it.
bool MustHurry(const PlannerConfig& config, const std::vector<NodeId>& members) {
  return config.planner == "packed" && members.size() > kMostNodesPlannedAtOnce;
}

}  // namespace

Replanner::Replanner(const OverlayConfig& overlay, NetworkView believed, PlannerConfig planner_config,
                     const KeyTable* keys, const PublishedPolicies* policies)
    : keys_(keys),
      policies_(policies),
      links_(std::move(believed)),
      infers_sharing_(InfersSharing(overlay, links_.believed())),
      infers_ways_(InfersWays(overlay, links_.believed())),
      traffic_(overlay.membership.heartbeat),
      sharing_(links_.believed()),
      planner_config_(std::move(planner_config)),
      update_interval_(overlay.topology.update_interval),
      formulation_(overlay.topology, overlay.awareness) {}

absl::Status Replanner::OnLinkReport(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links) {
  InferSharing(now, from, links);
  const absl::Status accepted = links_.Accept(now, from, links);
  if (!accepted.ok() || !infers_ways_) return accepted;
  for (const NodeReport::Link& link : links) {
    if (link.measurement.has_value()) delays_.Note(now, from, link.to, link.measurement->delay);
  }
  return accepted;
}

void Replanner::InferSharing(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links) {
  if (!infers_sharing_) return;
  traffic_.Accept(now, from, links, links_.believed());
  while (const std::optional<std::vector<LinkTraffic>> interval = traffic_.Next(now)) sharing_.Add(*interval);
}

NetworkView Replanner::View() {
  const NetworkView view = links_.View();
  ways_ = hidden_ways_.are_suspected() ? FindSharedWays(delays_.In(view), sharing_.window()) : std::vector<SharedWay>();
  return outages_.Without(ways_.empty() ? view : WithSharedWays(view, ways_));
}

void Replanner::OnRoundEnded(Timestamp now, NodeId node, const NodeReport::Synchronisation& last) {
  round_times_.Accept(now, node, last, keys_->ElementsOfAll());
  if (!infers_ways_ || policies_->Current() == nullptr || last.elements != keys_->ElementsOfAll()) return;
  hidden_ways_.OnRound(round_times_.ended(), last.duration, InUse().round_time);
}

void Replanner::OnModelGrown(Timestamp now) {
  formulation_.NoteModel(now);
  trial_.Forget();
}

void Replanner::OnLinkCut(Timestamp now, NodeId a, NodeId b, std::string why) {
  outages_.Cut(now, a, b, std::move(why));
  is_cut_ = true;
}

void Replanner::OnAdopted(Timestamp now, const NetworkView& view) {
  is_cut_ = false;
  published_view_ = view;
  formulation_.NoteAdopted(now);
  if (std::exchange(is_hasty_, false)) formulation_.NoteHaste(now);
  Use(now, view);
}

void Replanner::OnReconfigured(Timestamp now, const OverlayConfig& overlay, NetworkView believed,
                               PlannerConfig planner_config) {
  links_.Believe(std::move(believed));
  links_.MarkPlanned();
  infers_sharing_ = InfersSharing(overlay, links_.believed());
  infers_ways_ = InfersWays(overlay, links_.believed());
  hidden_ways_.Forget();
  delays_.Forget();
  ways_.clear();
  if (!sharing_.Believe(links_.believed())) traffic_.Clear();
  planner_config_ = std::move(planner_config);
  update_interval_ = overlay.topology.update_interval;
  formulation_ = Formulation(overlay.topology, overlay.awareness);
  formulation_.NotePlanned(now);
  trial_.Forget();
}

void Replanner::Restore(const std::vector<NetworkLink>& measured) {
  links_.Restore(measured);
  published_view_ = links_.View();
  Use(Timestamp(), published_view_);
}

void Replanner::Use(Timestamp now, const NetworkView& view) {
  // What is inferred must not keep a link from showing that it is slower.
  const absl::StatusOr<NetworkView> told = links_.believed().WithLinks({view.links().begin(), view.links().end()});
  if (told.ok()) links_.SetCappedRates(MakeCappedRates(InUse(), *told));
  round_times_.NoteAdopted(now, InUse().members, InUse().round_time);
}

PlanLook Replanner::Look(Timestamp now) {
  BANYAN_CHECK(policies_->Current() != nullptr);
  if (is_planning() || is_cut_) return {};
  std::optional<Formulation::Reason> reason = formulation_.LookForReason(now, links_, round_times_);
  if (!reason.has_value() && TrialLooksBad(now)) reason = {"rounds that are slower than they were", kMostGain};
  if (!reason.has_value()) return {};
  if (policies_->size() >= kMostLivePolicies) {
    return {absl::StrCat(policies_->size(), " policies govern open rounds: no other is made before some close"), {}};
  }
  PlanRequest request =
      Start(now, Plan{.members = InUse().members, .view = View(), .reason = reason->why}, planner_config_);
  plan_->least_gain = reason->least_gain;
  return {std::move(reason->why), std::move(request)};
}

PlanRequest Replanner::PlanForStart(Timestamp now, std::vector<NodeId> members) {
  return Start(now, Plan{.members = std::move(members), .view = View(), .reason = "the start", .is_ordered = true},
               planner_config_);
}

bool Replanner::TakeReturnedLinks(Timestamp now) {
  if (!outages_.TakeReturned(now)) return false;
  links_.NoteReturn(now);
  return true;
}

PlanRequest Replanner::PlanForEpoch(Timestamp now, std::vector<NodeId> members, std::string reason) {
  trial_.Forget();
  PlannerConfig config = planner_config_;
  if (policies_->Current() != nullptr && MustHurry(config, members)) config.current_trees = InUse().trees;
  return Start(now,
               Plan{.members = std::move(members),
                    .view = View(),
                    .reason = std::move(reason),
                    .is_ordered = true,
                    .is_for_epoch = true},
               std::move(config));
}

PlanRequest Replanner::PlanForReconfiguration(Timestamp now, std::vector<NodeId> members, const NetworkView& believed,
                                              PlannerConfig planner_config, std::string reason, bool is_for_epoch) {
  if (members != InUse().members) trial_.Forget();
  LinkTable links = links_;
  links.Believe(believed);
  return Start(now,
               Plan{.members = std::move(members),
                    .view = outages_.Without(links.View()),
                    .reason = std::move(reason),
                    .is_ordered = true,
                    .is_for_epoch = is_for_epoch},
               std::move(planner_config));
}

PlanRequest Replanner::Start(Timestamp now, Plan plan, PlannerConfig config) {
  DropPlan();
  config.tensors = keys_->Tensors();
  is_hasty_ = config.in_haste = plan.is_for_epoch && MustHurry(config, plan.members);
  std::optional<Policy> in_use;
  std::optional<Policy> former;
  // What the operator wants is not weighed against what there is, whose links there need not be any more.
  if (!plan.is_ordered) {
    in_use = InUse();
    former = trial_.former();
  }
  if (in_use.has_value()) config.current_trees = in_use->trees;
  config.sent_part = SentPart(config.tensors);
  last_computation_ = last_computation_.Next();
  plan.id = last_computation_;
  PlanRequest request{plan.id, std::make_unique<PlanComputation>(plan.view, plan.members, std::move(config),
                                                                 std::move(in_use), std::move(former))};
  plan.unwanted = request.computation->Unwanted();
  plan_ = std::move(plan);
  links_.MarkPlanned();
  formulation_.NotePlanned(now);
  return request;
}

double Replanner::SentPart(const std::vector<PlannedTensor>& tensors) const {
  if (tensors.empty()) return 1;
  const double planned_bits = BitsOf(tensors) / static_cast<double>(ElementsOf(tensors));
  return sent_bits_.PerElement(planned_bits) / planned_bits;
}

PlanDecision Replanner::OnPlanFinished(Timestamp now, ComputationId id, PlanComputation& computation) {
  BANYAN_CHECK(IsPlanning(id));
  PlanDecision decision;
  Plan plan = *std::exchange(plan_, std::nullopt);
  absl::StatusOr<Policy> policy = computation.TakePolicy();
  if (!policy.ok()) {
    if (!plan.is_ordered) trial_.Forget();
    decision.kind = Kind::kFail;
    decision.reason = std::string(policy.status().message());
    decision.code = policy.status().code();
    return decision;
  }
  if (!plan.is_ordered) return JudgePlan(now, std::move(plan), *std::move(policy), computation);
  decision.kind = Kind::kAdopt;
  decision.reason = std::move(plan.reason);
  predicted_round_ = policy->round_time;
  decision.policy = *std::move(policy);
  decision.view = std::move(plan.view);
  return decision;
}

PlanDecision Replanner::JudgePlan(Timestamp now, Plan plan, Policy policy, PlanComputation& computation) {
  PlanDecision decision;
  if (TrialLooksBad(now)) {
    PlanDecision ended = EndTrial(now, plan, computation.former_round_time());
    if (ended.kind == Kind::kGoBack) {
      predicted_round_ = computation.former_round_time();
      return ended;
    }
    decision.note = std::move(ended.reason);
  }
  PlanComputation::InUse in_use = computation.TakeInUse();
  const Timestamp since = EvidenceSince(now);
  const absl::Duration predicted = in_use.as_published.round_time;
  in_use.as_published.round_time = round_times_.Credible(predicted, since);
  Verdict verdict = Judge(in_use.as_published, published_view_, policy, plan.view, plan.least_gain);
  const absl::string_view held = trial_.WhyHeld(now, round_times_.Governed(), round_times_.GovernedFor(now), plan.view);
  if (verdict.kind != Verdict::Kind::kKeep && !held.empty()) {
    verdict = {Verdict::Kind::kKeep, absl::StrCat(verdict.why, ", but ", held)};
  }
  predicted_round_ = verdict.kind == Verdict::Kind::kAdopt ? policy.round_time : in_use.as_published.round_time;
  decision.reason = absl::StrCat(plan.reason, ", and ", verdict.why);
  if (verdict.kind == Verdict::Kind::kKeep) {
    round_times_.Learn(predicted, since);
    decision.kind = Kind::kKeep;
    return decision;
  }
  BeginTrial(now, plan, predicted);
  decision.kind = Kind::kAdopt;
  decision.policy = verdict.kind == Verdict::Kind::kRefresh ? std::move(in_use.refreshed) : std::move(policy);
  decision.view = std::move(plan.view);
  return decision;
}

PlanDecision Replanner::EndTrial(Timestamp now, const Plan& plan, absl::Duration predicted) {
  const absl::Duration takes = PolicyTrial::Median(round_times_.Governed());
  const uint64_t version = InUse().version.value();
  PlanDecision decision;
  decision.policy = *trial_.former();
  decision.view = plan.view;
  const std::string slower =
      absl::StrFormat("rounds of %.3g s under policy %d, where policy %d took %.3g", absl::ToDoubleSeconds(takes),
                      version, decision.policy.version.value(), absl::ToDoubleSeconds(trial_.took()));
  if (!trial_.End(now, round_times_.Governed(), predicted, plan.view)) {
    decision.kind = Kind::kKeep;
    decision.reason = absl::StrCat("policy ", version, " stays in spite of ", slower,
                                   ": by the links as they are now that would be slower too");
    return decision;
  }
  decision.kind = Kind::kGoBack;
  decision.reason = absl::StrCat(slower, ", which comes back");
  return decision;
}

void Replanner::BeginTrial(Timestamp now, const Plan& plan, absl::Duration predicted) {
  const std::optional<absl::Duration> last = round_times_.Last(EvidenceSince(now));
  const bool is_known = predicted > absl::ZeroDuration() && predicted < absl::InfiniteDuration();
  if (!last.has_value() || round_times_.Governed().empty() || !is_known || IsLearning(now)) return;
  trial_.Begin(InUse(), plan.view, predicted, std::max(*last, PolicyTrial::Median(round_times_.Governed())));
}

bool Replanner::TrialLooksBad(Timestamp now) {
  return trial_.LooksSlower(round_times_.Governed(), round_times_.GovernedFor(now));
}

Timestamp Replanner::EvidenceSince(Timestamp now) const {
  const Timestamp changed = links_.last_change().value_or(Timestamp());
  if (round_times_.Last(changed).has_value()) return changed;
  // Links that never settle leave no time for a round: then those count that ran while they did not.
  return now + -kLongestPostponement * update_interval_;
}

// ---- hidden ways ----

void HiddenWays::OnRound(uint64_t ended, absl::Duration took, absl::Duration promised) {
  if (ended <= ended_) return;
  ended_ = ended;
  ++rounds_;
  if (suspected_at_ == 0) {
    const bool is_broken = promised > absl::ZeroDuration() && took > kBrokenPromise * promised;
    const bool is_learning = rounds_ < kFirstJudged || took < kStillFaster * fastest_without_;
    broken_ = is_broken && !is_learning ? broken_ + 1 : 0;
    if (broken_ == kBrokenRounds) suspected_at_ = rounds_;
    fastest_without_ = std::min(fastest_without_, took);
    return;
  }
  const uint64_t tried = rounds_ - suspected_at_;
  if (tried <= kUnjudged || tried > kUnjudged + kTried || took <= kAsFast * fastest_without_) return;
  if (++slower_ > kTried / 2) is_refuted_ = true;
}

}  // namespace banyan
