#include "scheduler/epochs/epoch_changer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/complaints.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

// A change of a thousand members is told in few words.
constexpr size_t kMostReasonsTold = 8;

// Until all that take part in a round have seen what is wrong with it.
constexpr absl::Duration kVerdictDelay = absl::Seconds(1);

// What is so of nodes to which no link leads from most others.
constexpr char kCutOff[] = "none of the links that lead to the other members works; they are tried again in a while";

std::string WhyRemoved(const Member& member) { return absl::StrCat("an operator has removed ", member.name); }

}  // namespace

EpochChanger::EpochChanger(Parts parts)
    : parts_(parts), suspicions_(&parts.members->table()), departure_(parts.overlay->membership.lost_after) {}

void EpochChanger::Start(PlanDecision decision) {
  reason_ = "the start";
  parts_.conductor->Start(std::move(decision), reason_);
  planned_epoch_ = parts_.job->epoch();
}

void EpochChanger::Resume(Epoch planned) {
  planned_epoch_ = planned;
  // Orders whose epoch had not begun.
  for (const Member& member : table().all()) {
    if (member.is_member && member.is_removed) causes_.FallOut(now(), member.id, WhyRemoved(member));
    if (!member.is_member || member.state != MemberState::kLeft) continue;
    OnLeave(member.id, absl::StrCat(member.name, " has left"), !member.has_left_for_good);
  }
  if (planned == parts_.job->epoch()) return;
  causes_.Add(now(), "the scheduler was restarted while membership changed");
  Begin(*causes_.TakeAll());
}

bool EpochChanger::HasLostReplicas() const {
  const AggregationOp op = parts_.overlay->aggregation.op;
  const bool has_optimizer = op != AggregationOp::kSum && op != AggregationOp::kMean;
  return has_optimizer && parts_.rounds->HasBegun() && !epoch_reports_.HasReplica();
}

void EpochChanger::OnLostReplicas() {
  const std::vector<Member>& all = table().all();
  const bool is_done =
      std::any_of(all.begin(), all.end(), [](const Member& member) { return member.has_left_for_good; });
  end_ = is_done ? absl::OkStatus()
                 : absl::DataLossError(
                       "all members are gone that had the parameters and what the optimizer keeps; "
                       "restart the job");
}

void EpochChanger::OnJoin(const JoinVerdict& verdict) {
  const NodeId node = verdict.node;
  const Member& member = table().Find(node);
  if (verdict.kind == JoinVerdict::Kind::kContests) return suspicions_.NoteContest(now(), node);
  if (member.is_member) {
    causes_.FallOut(now(), node, absl::StrCat(member.name, " has been restarted"));
  } else if (CutOff({}).contains(node)) {
    if (held_back_.insert(node).second) {
      parts_.context->LogWarning(absl::StrCat(member.name, " waits to join: ", kCutOff));
    }
  } else {
    causes_.Add(now(), absl::StrCat(member.name, " joins"));
  }
}

void EpochChanger::OnDisconnected(NodeId node) {
  const Member& member = table().Find(node);
  if (member.is_member && member.state != MemberState::kLeft) suspicions_.NoteDown(now(), node);
  if (member.is_member && parts_.members->waiting().Contains(node)) {
    causes_.FallOut(now(), node, absl::StrCat(member.name, " has been restarted"));
  }
}

void EpochChanger::OnLeave(NodeId node, const std::string& why, bool is_asked_for) {
  const bool has_open_rounds = parts_.rounds->bindings() > 0;
  if (is_changing() || (is_asked_for && has_open_rounds)) return causes_.FallOut(now(), node, why);
  parts_.conductor->OnLeave(departure_.Note(now(), why));
}

void EpochChanger::OnPeerLost(NodeId node, const PeerLost& message) {
  const NodeId peer = message.peer;
  if (!table().Contains(peer) || peer == node) {
    return parts_.members->Reject(node, absl::StrCat("the loss of node ", peer.value(), ", which is no peer of it"));
  }
  // Members complain anew in the next epoch of what is still wrong, and whoever has left may fall silent.
  const Member& lost = table().Find(peer);
  if (is_changing() || !lost.is_member || lost.state == MemberState::kLeft) return;
  const NetworkView& links = parts_.policies->replanner().links().believed();
  if (links.FindLink(node, peer) == nullptr && links.FindLink(peer, node) == nullptr) {
    return parts_.members->Reject(node, absl::StrCat("the loss of ", lost.name, ", to which it has no link"));
  }
  const std::string what = DescribeComplaint(parts_.members->NameOf(node), lost.name, message);
  parts_.context->LogWarning(what);
  suspicions_.NoteComplaint(now(), node, peer, what);
}

void EpochChanger::OnWorkerLost(NodeId node, const std::string& why, bool has_values) {
  if (lost_workers_.Note(node, why)) parts_.context->LogWarning(why);
  parts_.members->SetWorkerless(node, has_values);
  if (is_changing() || parts_.policies->policies().CurrentSource() != node) return;
  const std::vector<Member>& all = table().all();
  const bool has_better =
      std::any_of(all.begin(), all.end(), [silence = table().Find(node).Silence()](const Member& member) {
        return member.is_member && member.Silence() < silence && member.state != MemberState::kLeft;
      });
  if (has_better) causes_.Add(now(), absl::StrCat(why, ", and broadcasts took their values from it"));
}

void EpochChanger::OnNodeReport(NodeId node) {
  lost_workers_.OnReport(node);
  CheckDeparture(node);
}

OperatorReply EpochChanger::Remove(const RemoveNode& order) {
  const std::optional<NodeId> node = table().FindByName(order.name);
  if (!node.has_value()) {
    return {false, absl::StrCat("job '", parts_.job->job(), "' has no node named '",
                                PrintableText(order.name, kMaxKeyNameBytes), "'")};
  }
  if (!parts_.job->IsRunning()) {
    return {false,
            "the job does not run; leave the node out of the overlay's file and start the scheduler again with it"};
  }
  const Member& member = table().Find(*node);
  if (member.is_removed) return {false, absl::StrCat(member.name, " is removed already")};
  parts_.members->Remove(*node);
  if (member.is_member) causes_.FallOut(now(), *node, WhyRemoved(member));
  return {true, absl::StrCat(member.name, " is removed; `banyan reconfigure` lets it in again")};
}

void EpochChanger::Exclude(NodeId node, const std::string& why) {
  const Member& member = table().Find(node);
  if (!member.is_member || !excluded_.insert(node).second) return;
  parts_.context->LogWarning(absl::StrCat(member.name, " falls out: ", why));
  parts_.members->SendTo(node, JoinRefused{parts_.job->term(), why, /*fell_out=*/true});
  causes_.FallOut(now(), node, why);
  const std::vector<Member>& all = table().all();
  const bool has_other = std::any_of(all.begin(), all.end(), [this](const Member& other) {
    return other.is_member && other.state != MemberState::kLeft && excluded_.count(other.id) == 0;
  });
  if (!has_other) end_ = absl::InternalError(absl::StrCat("no member can go on: ", why));
}

void EpochChanger::OnRoundBroken(NodeId node, const RoundBroken& broken, const std::string& why) {
  // Whoever is falling out breaks no round of the next epoch.
  if (!IsInGoodStanding(node) || (BlamesAnother(node, broken) && !IsInGoodStanding(broken.culprit))) return;
  broken_[node] = {broken, why, /*is_judged=*/false};
  if (table().Members().size() <= 2) {
    end_ = absl::UnavailableError(why);
  } else {
    verdict_due_ = std::min(verdict_due_, now() + kVerdictDelay);
  }
}

void EpochChanger::JudgeBrokenRounds() {
  if (now() < verdict_due_) return;
  verdict_due_ = kNever;
  std::map<NodeId, std::vector<NodeId>> accusers;  // by the node that they blame
  for (const auto& [node, said] : broken_) {
    if (BlamesAnother(node, said.broken)) accusers[said.broken.culprit].push_back(node);
  }
  for (const auto& [culprit, nodes] : accusers) {
    if (nodes.size() < 2 || !IsInGoodStanding(culprit)) continue;
    // One that complains now: others may have fallen out for the same long ago.
    const auto complains =
        std::find_if(nodes.rbegin(), nodes.rend(), [this](NodeId node) { return !broken_[node].is_judged; });
    if (complains == nodes.rend()) continue;
    const NodeId other = *complains == nodes.front() ? nodes.back() : nodes.front();
    Exclude(culprit, absl::StrCat(broken_[*complains].why, "; ", parts_.members->NameOf(other), " has blamed it too"));
    for (const NodeId node : nodes) broken_.erase(node);
  }
  size_t members = table().Members().size();
  for (const auto& [node, said] : broken_) members += table().Find(node).is_member ? 0 : 1;
  for (auto& [node, said] : broken_) {
    if (said.is_judged || !IsInGoodStanding(node)) continue;
    said.is_judged = true;
    const auto is_same = [&said](const auto& other) {
      return other.second.broken.key == said.broken.key && other.second.broken.round == said.broken.round;
    };
    const auto speakers = static_cast<size_t>(std::count_if(broken_.begin(), broken_.end(), is_same));
    if (2 * speakers > members) {
      end_ = absl::UnavailableError(said.why);
    } else {
      Exclude(node, said.why);
    }
  }
}

void EpochChanger::Change(const std::string& why) {
  if (!is_changing()) causes_.Add(now(), why);
}

void EpochChanger::CheckDeparture(NodeId node) {
  if (is_changing()) return;
  const std::optional<std::string> why =
      departure_.WhyStuck(table().Find(node), parts_.reports->Find(node), {*parts_.keys, *parts_.rounds});
  if (why.has_value()) causes_.Add(now(), *why);
}

void EpochChanger::NoteStanding(absl::Duration stood) {
  // Who waits for its JoinAccepted says nothing. What is left of lost_after is long enough for a heartbeat.
  if (stood > parts_.overlay->membership.lost_after / 4) suspicions_.NoteStanding(now());
}

void EpochChanger::OnDurable(absl::Duration stood) {
  NoteStanding(stood);
  if (!begin_record_.has_value() || !parts_.context->outbox.IsDurable(*begin_record_)) return;
  begin_record_.reset();
  if (is_changing() && !epoch_reports_.IsComplete()) report_due_ = now() + parts_.overlay->membership.lost_after;
}

void EpochChanger::OnDeadline() {
  NoteStanding(parts_.context->StorageStandsFor());
  TakeSilence();
  TakeSuspicions();
  TakeUnreported();
  JudgeBrokenRounds();
  if (departure_.TakeDue(now())) {
    for (const NodeId node : table().Members()) CheckDeparture(node);
  }
  if (parts_.policies->TakeLinksReturned()) LetHeldBackIn();
  if (std::optional<ChangeCauses::Causes> causes = causes_.Take(now()); causes.has_value()) {
    if (IsOver(causes->fallen)) {
      end_ = absl::OkStatus();
      return;
    }
    LeaveOutCutOff(*causes);
    Begin(*causes);
  }
  FinishIfReady();
}

bool EpochChanger::IsOver(const std::set<NodeId>& fallen) const {
  bool has_finished = false;
  for (const Member& member : table().all()) {
    // Who has been in no round yet can only go on with what others hold.
    if (!member.is_member || member.joined_in > planned_epoch_) continue;
    const bool is_here = member.state != MemberState::kLeft && fallen.count(member.id) == 0;
    if (is_here && !IsHelper(member, parts_.reports->Find(member.id))) return false;
    has_finished = has_finished || member.has_left_for_good;
  }
  return has_finished;
}

std::set<NodeId> EpochChanger::CutOff(const std::set<NodeId>& fallen) const {
  // Before that the overlay or an address is wrong, which is to be seen before others train without the node.
  if (!parts_.rounds->HasClosed()) return {};
  std::set<NodeId> nodes;
  for (const NodeId node : table().Members()) {
    if (!fallen.contains(node) && table().Find(node).state != MemberState::kLeft) nodes.insert(node);
  }
  for (const NodeId node : parts_.members->waiting().Nodes()) nodes.insert(node);
  return parts_.policies->replanner().CutOff(nodes);
}

void EpochChanger::LeaveOutCutOff(ChangeCauses::Causes& causes) {
  held_back_.clear();
  for (const NodeId node : CutOff(causes.fallen)) {
    const Member& member = table().Find(node);
    if (parts_.members->waiting().Contains(node)) held_back_.insert(node);
    if (!member.is_member || !causes.fallen.insert(node).second) continue;
    const std::string why = absl::StrCat(member.name, " falls out: ", kCutOff);
    parts_.context->LogWarning(why);
    parts_.members->SendTo(node, JoinRefused{parts_.job->term(), why, /*fell_out=*/true});
    causes.reasons.push_back(why);
  }
}

void EpochChanger::LetHeldBackIn() {
  const std::set<NodeId> cut_off = CutOff({});
  for (const NodeId node : parts_.members->waiting().Nodes()) {
    if (held_back_.contains(node) && !cut_off.contains(node)) {
      causes_.Add(now(), absl::StrCat(parts_.members->NameOf(node), " joins, and its links are tried again"));
    }
  }
}

Timestamp EpochChanger::NextDeadline() const {
  if (HasOrderWhileDeaf() || parts_.policies->have_links_returned()) return now();
  return std::min(
      {suspicions_.NextDeadline(), causes_.NextDeadline(), departure_.NextDeadline(), report_due_, verdict_due_});
}

void EpochChanger::TakeSilence() {
  const std::vector<NodeId> silent = parts_.members->TakeSilent();
  for (const NodeId node : silent) suspicions_.NoteSilent(now(), node, parts_.members->DescribeSilence({node}));
}

void EpochChanger::RefuseContesters(const std::vector<NodeId>& defended) {
  for (const NodeId node : defended) parts_.members->RefuseContesters(node);
}

std::vector<NodeId> EpochChanger::TakeReplaced() {
  const Suspicions::Findings findings = suspicions_.Take(now());
  RefuseContesters(findings.defended);
  std::vector<NodeId> replaced;
  for (const auto& [node, why] : findings.fallen) replaced.push_back(node);
  return replaced;
}

void EpochChanger::TakeSuspicions() {
  const bool was_deaf = suspicions_.is_deaf();
  Suspicions::Findings findings = suspicions_.Take(now());
  if (suspicions_.is_deaf() && !was_deaf) parts_.context->LogWarning(absl::StrCat("the job waits: ", WaitsFor()));
  AnswerWhileDeaf();
  for (const auto& [node, why] : findings.fallen) causes_.Miss(now(), node, why);
  RefuseContesters(findings.defended);
  for (const auto& [ends, why] : findings.cuts) {
    // The end of a member explains all complaints about it.
    if (causes_.IsFalling(ends.first) || causes_.IsFalling(ends.second)) continue;
    parts_.policies->replanner().OnLinkCut(now(), ends.first, ends.second, why);
    causes_.Add(now(), why);
  }
}

bool EpochChanger::HasOrderWhileDeaf() const {
  const Reconfigurator& order = parts_.policies->reconfigurator();
  const bool has_order = order.is_pending() || order.is_planning();
  return has_order && suspicions_.is_deaf() && is_changing() && !epoch_reports_.IsComplete();
}

void EpochChanger::AnswerWhileDeaf() {
  if (!HasOrderWhileDeaf()) return;
  decision_.reset();
  must_plan_ = true;
  parts_.policies->AwaitMembers(WaitsFor());
}

void EpochChanger::TakeUnreported() {
  if (now() < report_due_) return;
  report_due_ = suspicions_.JudgedFrom(now());
  if (now() < report_due_) return;
  report_due_ = kNever;
  for (const NodeId node : epoch_reports_.missing()) {
    causes_.FallOut(now(), node, absl::StrCat(parts_.members->NameOf(node), " has not said what it holds"));
  }
}

void EpochChanger::Begin(const ChangeCauses::Causes& causes) {
  if (!is_changing()) began_because_ = causes.since;
  reason_ = causes.Describe();
  for (const NodeId node : parts_.conductor->Begin(causes.fallen, held_back_, reason_)) {
    excluded_.erase(node);
    lost_workers_.Forget(node);
  }
  begin_record_ = parts_.context->outbox.last_record();
  departure_ = Departure(parts_.overlay->membership.lost_after);
  suspicions_.ForgetComplaints();
  decision_.reset();
  must_plan_ = false;
  report_due_ = kNever;
  std::set<NodeId> all, survivors;
  for (const EpochMember& member : table().EpochMembers()) {
    all.insert(member.node);
    // A member of an epoch that never had a plan holds nothing yet.
    if (member.joined_in <= planned_epoch_) survivors.insert(member.node);
    // Only one of its starts is alive, and that may be another one than has joined.
    const bool is_joiner = member.joined_in == parts_.job->epoch();
    if (is_joiner && parts_.members->waiting().Contains(member.node)) suspicions_.NoteContest(now(), member.node);
  }
  epoch_reports_.Begin(parts_.job->epoch(), std::move(all), std::move(survivors), parts_.keys->version().value());
  Plan();
}

void EpochChanger::Plan() {
  std::vector<NodeId> members = table().Members();
  const auto least = static_cast<size_t>(parts_.overlay->membership.least);
  if (members.size() >= std::max<size_t>(1, least)) return parts_.policies->PlanForEpoch(std::move(members), reason_);
  const std::string why = WaitsFor();
  parts_.policies->AwaitMembers(why);
  parts_.context->LogWarning(absl::StrCat("the job waits: ", why));
}

void EpochChanger::OnEpochReport(NodeId node, const EpochReport& report) {
  if (!is_changing()) return;
  const absl::Status status = epoch_reports_.Accept(node, report);
  if (!status.ok()) return parts_.members->Reject(node, std::string(status.message()));
  if (epoch_reports_.IsComplete()) report_due_ = kNever;
  FinishIfReady();
}

void EpochChanger::OnPlan(PlanDecision decision) {
  if (decision.kind == PlanDecision::Kind::kFail) return;
  decision_ = std::move(decision);
  FinishIfReady();
}

void EpochChanger::FinishIfReady() {
  const bool is_overtaken = causes_.NextDeadline() != kNever;
  if (!epoch_reports_.IsComplete() || is_overtaken) return;
  if (std::exchange(must_plan_, false)) return Plan();
  if (!decision_.has_value()) return;
  if (HasLostReplicas()) return OnLostReplicas();
  Finish(*std::exchange(decision_, std::nullopt));
}

void EpochChanger::Finish(PlanDecision decision) {
  parts_.conductor->Finish(std::move(decision), epoch_reports_);
  planned_epoch_ = parts_.job->epoch();
  history_.Add({planned_epoch_, reason_, table().Members().size(), now() - began_because_});
  parts_.context->LogInfo(
      absl::StrCat("epoch ", planned_epoch_.value(), " goes on after ",
                   absl::FormatDuration(absl::Trunc(now() - began_because_, absl::Milliseconds(1)))));
}

void EpochChanger::SendState(NodeId node) {
  causes_.Return(node);
  parts_.conductor->SendState(node, reason_);
}

std::string EpochChanger::DescribeDeafness() const {
  return absl::StrCat("the scheduler hears none of its ", CountOf(table().Members().size(), "member"),
                      ": is its own network down?");
}

std::string EpochChanger::WaitsFor() const {
  if (suspicions_.is_deaf()) return DescribeDeafness();
  if (!is_changing()) return "";
  const size_t members = table().Members().size();
  const auto least = static_cast<size_t>(parts_.overlay->membership.least);
  if (members < std::max<size_t>(1, least)) {
    std::vector<std::string> away;
    for (const Member& member : table().all()) {
      if (!member.is_member && !member.is_removed && away.size() < kMaxWaitingForNames) {
        away.push_back(member.name);
      }
    }
    return absl::StrCat("of at least ", CountOf(std::max<size_t>(1, least), "member"), " (membership.least) there are ",
                        members, "; these may come back: ", absl::StrJoin(away, ", "));
  }
  if (!parts_.policies->epoch_failure().empty()) {
    return absl::StrCat("there is no plan for these members: ", parts_.policies->epoch_failure(), " (", reason_, ")");
  }
  if (epoch_reports_.IsComplete()) return "a plan is being made";
  std::vector<std::string> names;
  for (const NodeId node : epoch_reports_.missing()) {
    if (names.size() < kMaxWaitingForNames) names.push_back(parts_.members->NameOf(node));
  }
  return absl::StrCat("reports of ", absl::StrJoin(names, ", "), " are missing");
}

// ---- causes ----

std::string ChangeCauses::Causes::Describe() const {
  const size_t told = std::min(reasons.size(), kMostReasonsTold);
  const std::string text = absl::StrJoin(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(told), "; ");
  return told == reasons.size() ? text : absl::StrCat(text, "; and ", reasons.size() - told, " more");
}

void ChangeCauses::FallOut(Timestamp now, NodeId node, const std::string& why) {
  missed_.erase(node);
  if (IsFalling(node)) return;
  Add(now, why);
  causes_->fallen.insert(node);
}

void ChangeCauses::Miss(Timestamp now, NodeId node, const std::string& why) {
  if (IsFalling(node)) return;
  FallOut(now, node, why);
  missed_.emplace(node, why);
}

void ChangeCauses::Return(NodeId node) {
  const auto missed = missed_.find(node);
  if (missed == missed_.end()) return;
  causes_->fallen.erase(node);
  std::erase(causes_->reasons, missed->second);
  missed_.erase(missed);
  if (causes_->reasons.empty()) causes_.reset();
}

void ChangeCauses::Add(Timestamp now, const std::string& why) {
  if (!causes_.has_value()) causes_ = Causes{now, {}, {}};
  std::vector<std::string>& reasons = causes_->reasons;
  if (std::find(reasons.begin(), reasons.end(), why) == reasons.end()) reasons.push_back(why);
}

Timestamp ChangeCauses::NextDeadline() const {
  return causes_.has_value() ? causes_->since + kMembershipBatch : kNever;
}

std::optional<ChangeCauses::Causes> ChangeCauses::Take(Timestamp now) {
  if (now < NextDeadline()) return std::nullopt;
  return TakeAll();
}

std::optional<ChangeCauses::Causes> ChangeCauses::TakeAll() {
  missed_.clear();
  return std::exchange(causes_, std::nullopt);
}

}  // namespace banyan
