#include "scheduler/rounds/round_book.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/state/low_bit_chunks.h"

namespace banyan {
namespace {

std::vector<PolicyAnswer::Binding>& BindingsFor(NodeId node, RoundOutcome& outcome) {
  for (RoundOutcome::Answer& answer : outcome.answers) {
    if (answer.node == node) return answer.bindings;
  }
  outcome.answers.push_back(RoundOutcome::Answer{node, {}});
  return outcome.answers.back().bindings;
}

}  // namespace

bool RoundCloser::IsClosed(KeyId key, Round round) const {
  const auto found = closed_.find(key);
  return found != closed_.end() && found->second.Contains(round);
}

Round RoundCloser::FirstOpen(KeyId key) const {
  const auto found = closed_.find(key);
  return found == closed_.end() ? Round(0) : found->second.first_open;
}

Round RoundCloser::AfterClosed(KeyId key) const {
  const auto found = closed_.find(key);
  if (found == closed_.end()) return Round(0);
  const std::set<Round>& beyond = found->second.beyond;
  return beyond.empty() ? found->second.first_open : beyond.rbegin()->Next();
}

bool RoundCloser::Report(NodeId node, KeyId key, Round round, size_t member_count) {
  BANYAN_CHECK(!IsClosed(key, round));
  const auto position = tallies_.try_emplace({key, round}).first;
  Tally& tally = position->second;
  if (tally.reported.size() <= node.value()) tally.reported.resize(node.value() + 1, false);
  if (!tally.reported[node.value()]) ++tally.reports;
  tally.reported[node.value()] = true;
  if (tally.reports < member_count) return false;
  tallies_.erase(position);
  closed_[key].Add(round);
  return true;
}

const std::vector<bool>* RoundCloser::ReportersOf(KeyId key, Round round) const {
  const auto found = tallies_.find({key, round});
  return found == tallies_.end() ? nullptr : &found->second.reported;
}

void RoundCloser::AdvanceTo(KeyId key, Round open) {
  if (open > FirstOpen(key)) closed_[key].AdvanceTo(open);
}

std::set<Round> RoundCloser::Beyond(KeyId key) const {
  const auto found = closed_.find(key);
  return found == closed_.end() ? std::set<Round>() : found->second.beyond;
}

RoundBook::RoundBook(const KeyTable* keys, std::vector<std::string> node_names, absl::Duration lease,
                     uint32_t rounds_in_flight)
    : keys_(keys), node_names_(std::move(node_names)), rounds_in_flight_(rounds_in_flight), pacer_(lease) {}

void RoundBook::UsePolicy(PolicyVersion policy, size_t member_count, int64_t chunk_max_elements) {
  policy_ = policy;
  member_count_ = member_count;
  chunks_of_[policy] = chunk_max_elements;
  // A cut under way is to one that was in use.
  const PolicyVersion oldest = std::min(OldestPolicy(), cut_.value_or(policy));
  chunks_of_.erase(chunks_of_.begin(), chunks_of_.lower_bound(oldest));
}

int64_t RoundBook::ChunkOf(KeyId key, PolicyVersion policy, KeyRoutes route) const {
  const auto known = chunks_of_.find(policy);
  if (known == chunks_of_.end()) return 0;
  return ChunkOfRoutes(route, keys_->ElementsOf(key), keys_->BordersOf(key).size() + 1, known->second);
}

RoundOutcome RoundBook::Request(Timestamp now, NodeId node, const PolicyRequest& request) {
  pacer_.Measure(now, keys_->version().value());
  RoundOutcome outcome;
  for (const PolicyRequest::Entry& entry : request.entries) RequestOne(node, entry, outcome);
  return outcome;
}

RoundOutcome RoundBook::Rebind(Timestamp now, const EpochPlanRecord& plan, const std::vector<NodeId>& members) {
  pacer_.Measure(now, keys_->version().value());
  is_frozen_ = false;
  has_departed_ = false;
  const auto known = chunks_of_.find(plan.policy);
  UsePolicy(plan.policy, members.size(), known == chunks_of_.end() ? 0 : known->second);
  closer_.RestartTallies();
  digests_.Clear();
  bindings_.Clear();
  for (const EpochPlan::Frontier& run : plan.frontiers) {
    for (KeyId key = run.first_key; key <= run.last_key; key = key.Next()) closer_.AdvanceTo(key, run.first_open);
    pacer_.NoteOpen(run.first_open);
  }
  for (const EpochPlan::Binding& run : plan.bindings) {
    for (KeyId key = run.first_key; key <= run.last_key; key = key.Next()) {
      BANYAN_CHECK(bindings_.Restore(
          {key, run.first_round, run.last_round, plan.policy, run.attempt, run.chunk_max_elements, run.route}));
    }
  }
  RoundOutcome outcome;
  UnparkAll(members, outcome);
  return outcome;
}

bool RoundBook::HasOtherRoutes() const {
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    const std::vector<BoundRounds> leases = bindings_.LeasesOf(key);
    if (!leases.empty() && leases.back().route != RouteOf(key, leases.back().last_round)) return true;
  }
  return false;
}

bool RoundBook::IsWorthCutting(PolicyVersion policy) const {
  if (OldestPolicy() >= policy) return false;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    // Members ask one round ahead, and what they hold is closed a round later.
    const Round soon(closer_.AfterClosed(key).value() + 2 * rounds_in_flight_ + 2);
    if (bindings_.HasBelow(key, policy, soon)) return true;
    // Another route is wanted as soon as can be.
    const Round next = closer_.AfterClosed(key).Next();
    if (bindings_.HasOtherRoute(key, policy, next, RouteOf(key, next))) return true;
  }
  return false;
}

CutRecord RoundBook::PlanCut(const std::map<KeyId, Round>& begun) const {
  BANYAN_CHECK(cut_.has_value());
  CutRecord cut = {*cut_, {}};
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    const auto of_key = begun.find(key);
    // What is closed was begun by all.
    const Round from = std::max(of_key == begun.end() ? Round(0) : of_key->second, closer_.AfterClosed(key));
    if (!bindings_.HasBelow(key, cut.policy, from)) continue;
    const KeyRoutes route = RouteOf(key, from);
    cut.rounds.push_back({key, from, route, ChunkOf(key, cut.policy, route)});
  }
  return cut;
}

std::vector<PolicyAnswer::Binding> RoundBook::FinishCut(const CutRecord& cut) {
  const PolicyVersion policy = *std::exchange(cut_, std::nullopt);
  std::vector<KeyId> keys;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    if (bindings_.HasBelow(key, policy)) keys.push_back(key);
  }
  for (const CutRecord::Entry& entry : cut.rounds) {
    BANYAN_CHECK(bindings_.Cut(entry.key, entry.round, cut.policy, entry.route, entry.chunk_max_elements));
  }
  std::vector<PolicyAnswer::Binding> leases;
  for (const KeyId key : keys) {
    for (const BoundRounds& lease : bindings_.LeasesOf(key)) leases.push_back(lease.ToAnswer());
  }
  // Equal leases of consecutive keys follow each other, so that they travel as one.
  std::stable_sort(leases.begin(), leases.end(), [](const PolicyAnswer::Binding& a, const PolicyAnswer::Binding& b) {
    return a.first_round != b.first_round ? a.first_round < b.first_round : a.last_round < b.last_round;
  });
  return leases;
}

std::vector<ClosedEverywhere::Entry> RoundBook::ClosedBeyond() const {
  std::vector<ClosedEverywhere::Entry> entries;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    for (const Round round : closer_.Beyond(key)) entries.push_back({key, round});
  }
  return entries;
}

Round RoundBook::AfterLast(KeyId key) const {
  const Round after = closer_.AfterClosed(key);
  const std::vector<BoundRounds> leases = bindings_.LeasesOf(key);
  return leases.empty() ? after : std::max(after, leases.back().last_round.Next());
}

std::vector<BoundRounds> RoundBook::OpenFrom(KeyId key, Round first) const {
  std::vector<BoundRounds> runs;
  for (const BoundRounds& lease : bindings_.LeasesOf(key)) {
    bool is_run = false;
    for (Round round = std::max(lease.first_round, first); round <= lease.last_round; round = round.Next()) {
      const bool is_open = !closer_.IsClosed(key, round);
      if (is_open && !is_run) {
        runs.push_back(lease);
        runs.back().first_round = round;
      }
      if (is_open) runs.back().last_round = round;
      is_run = is_open;
    }
  }
  return runs;
}

bool RoundBook::HasBegun() const {
  if (bindings_.size() > 0) return true;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    if (AfterLast(key) > Round(0)) return true;
  }
  return false;
}

bool RoundBook::HasReported(NodeId node, KeyId key, Round round) const {
  const std::vector<bool>* const reporters = closer_.ReportersOf(key, round);
  return reporters != nullptr && node.value() < reporters->size() && (*reporters)[node.value()];
}

RoundOutcome RoundBook::Report(Timestamp now, NodeId node, const RoundsClosed& report) {
  pacer_.Measure(now, keys_->version().value());
  RoundOutcome outcome;
  // The node says it again under the next plan.
  if (is_frozen_) return outcome;
  for (const RoundsClosed::Entry& entry : report.entries) {
    ReportRun(node, entry, outcome);
    if (!outcome.failure.ok()) return outcome;
  }
  for (const ClosedEverywhere::Entry& entry : outcome.closed) Unpark(entry.key, outcome);
  if (parked_.size() <= kMaxParkedRequests / 2) outcome.forgotten = std::exchange(forgotten_, {});
  return outcome;
}

bool RoundBook::RestoreBinding(const BoundRounds& binding) {
  if (!bindings_.Restore(binding)) return false;
  pacer_.NoteLease(binding.last_round.value() - binding.first_round.value() + 1);
  return true;
}

void RoundBook::RestoreClosed(KeyId key, const ClosedRounds& closed) {
  pacer_.NoteOpen(closed.first_open);
  closer_.Restore(key, closed);
  bindings_.ForgetClosed(key, closed);
}

std::string RoundBook::Describe(KeyId key, Round round) const {
  const std::string name =
      keys_->Contains(key) ? absl::StrCat("key '", keys_->NameOf(key), "'") : absl::StrCat("unknown key ", key.value());
  return absl::StrCat("round ", round.value(), " of ", name);
}

void RoundBook::RequestOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  if (!keys_->Contains(entry.key)) {
    outcome.rejections.push_back(absl::StrCat("a policy request for ", Describe(entry.key, entry.round)));
  } else if (closer_.IsClosed(entry.key, entry.round)) {
    // A copy from before a reconnect: its sender has reported the round since.
  } else if (is_frozen_ || !InWindow(entry.key, entry.round)) {
    Park(node, entry, outcome);
  } else {
    AnswerOne(node, entry, outcome);
  }
}

void RoundBook::Park(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  const uint64_t open = closer_.FirstOpen(entry.key).value();
  const uint64_t ahead = entry.round.value() - std::min(open, entry.round.value());
  if (parked_.size() >= kMaxParkedRequests) {
    if (!is_frozen_) forgotten_.insert(node);
    return;
  }
  if (ahead >= 2 * window_rounds()) {
    outcome.rejections.push_back(absl::StrCat("a policy request for ", Describe(entry.key, entry.round), ", ", ahead,
                                              " rounds after the oldest open one; ", window_rounds(), " may be open"));
    return;
  }
  parked_.insert(ParkedId{entry.key, entry.round, node});
}

void RoundBook::AnswerOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  std::optional<BoundRounds> binding = bindings_.Find(entry.key, entry.round);
  if (!binding.has_value() && has_departed_) return Park(node, entry, outcome);
  // All members hear of it when the cut is over.
  if (binding.has_value() && cut_.has_value() && binding->policy < *cut_) return;
  if (!binding.has_value()) {
    const KeyRoutes route = RouteOf(entry.key, entry.round);
    binding =
        bindings_.Bind(entry.key, entry.round, pacer_.length(), policy_, route, ChunkOf(entry.key, policy_, route));
    outcome.new_bindings.push_back(*binding);
  }
  std::vector<PolicyAnswer::Binding>& answered = BindingsFor(node, outcome);
  const PolicyAnswer::Binding answer = binding->ToAnswer();
  if (answered.empty() || answered.back() != answer) answered.push_back(answer);
}

void RoundBook::ReportRun(NodeId node, const RoundsClosed::Entry& entry, RoundOutcome& outcome) {
  const KeyId last(entry.key.value() + entry.more_keys);
  if (!keys_->Contains(last)) {
    outcome.rejections.push_back(absl::StrCat("a report of ", Describe(last, entry.round)));
    return;
  }
  bool all_open = true;
  for (KeyId key = entry.key; key <= last; key = key.Next()) {
    all_open = ReportOne(node, key, entry.round, outcome) && all_open;
  }
  // What is closed has been compared, and a digest cannot be divided among its keys.
  if (!all_open) return;
  // Who could not read its results has nothing to compare.
  Take(entry.hash == 0 ? digests_.NoteUnread(node, entry.round, member_count_)
                       : digests_.Report(node, entry.round, entry.key, last, entry.hash, member_count_),
       outcome);
}

void RoundBook::Take(const ResultDigests::Differences& differences, RoundOutcome& outcome) const {
  for (const ResultDigests::Difference& difference : differences) {
    if (difference.is_outlier) {
      outcome.outliers.emplace_back(difference.node, Describe(difference));
    } else {
      outcome.failure = absl::DataLossError(Describe(difference));
    }
  }
}

bool RoundBook::ReportOne(NodeId node, KeyId key, Round round, RoundOutcome& outcome) {
  if (closer_.IsClosed(key, round)) {
    outcome.closed_before.push_back(ClosedEverywhere::Entry{key, round});
    return false;
  }
  const std::optional<BoundRounds> binding = bindings_.Find(key, round);
  if (!binding.has_value()) {
    outcome.rejections.push_back(absl::StrCat("a report that ", Describe(key, round), " is closed, which never began"));
    return false;
  }
  if (closer_.Report(node, key, round, member_count_)) {
    CountClosed(key, round, binding->route);
    bindings_.Forget(key, round);
    pacer_.NoteOpen(closer_.FirstOpen(key));
    outcome.closed.push_back(ClosedEverywhere::Entry{key, round});
  }
  return true;
}

std::string RoundBook::Describe(const ResultDigests::Difference& difference) const {
  const std::string more =
      difference.first_key == difference.last_key ? "" : absl::StrCat(" to '", keys_->NameOf(difference.last_key), "'");
  return absl::StrFormat(
      "%s%s: the result of %s has hash %016x and that of %s %016x; replicas are not identical%s",
      Describe(difference.first_key, difference.round), more, NameOf(difference.node), difference.digest,
      NameOf(difference.other), difference.other_digest,
      difference.is_outlier ? absl::StrCat("; most members agree with ", NameOf(difference.other)) : "");
}

void RoundBook::Unpark(KeyId key, RoundOutcome& outcome) {
  for (auto next = parked_.lower_bound(ParkedId{key, Round(0), NodeId(0)});
       next != parked_.end() && next->key == key && InWindow(key, next->round);) {
    const PolicyRequest::Entry entry = {key, next->round};
    const NodeId node = next->node;
    next = parked_.erase(next);
    RequestOne(node, entry, outcome);
  }
}

void RoundBook::UnparkAll(const std::vector<NodeId>& members, RoundOutcome& outcome) {
  for (const ParkedId& parked : std::exchange(parked_, {})) {
    if (!std::binary_search(members.begin(), members.end(), parked.node)) continue;
    RequestOne(parked.node, {parked.key, parked.round}, outcome);
  }
}

const std::string& RoundBook::NameOf(NodeId node) const {
  BANYAN_CHECK(node.value() >= 1 && node.value() <= node_names_.size());
  return node_names_[node.value() - 1];
}

bool RoundBook::InWindow(KeyId key, Round round) const {
  return round.value() < closer_.FirstOpen(key).value() + window_rounds();
}

}  // namespace banyan
