#include "scheduler/rounds/job_rounds.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/scheduler_limits.h"

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

JobRounds::JobRounds(const KeyTable* keys, std::vector<std::string> node_names, absl::Duration lease,
                     uint32_t rounds_in_flight)
    : keys_(keys), node_names_(std::move(node_names)), rounds_in_flight_(rounds_in_flight), pacer_(lease) {}

void JobRounds::UsePolicy(PolicyVersion policy, size_t member_count, int64_t chunk_max_elements) {
  policy_ = policy;
  member_count_ = member_count;
  chunks_of_[policy] = chunk_max_elements;
  // A cut under way is to one that was in use.
  const PolicyVersion oldest = std::min(OldestPolicy(), cut_.value_or(policy));
  chunks_of_.erase(chunks_of_.begin(), chunks_of_.lower_bound(oldest));
}

int64_t JobRounds::ChunkOf(KeyId key, PolicyVersion policy, KeyRoutes route) const {
  const auto known = chunks_of_.find(policy);
  if (known == chunks_of_.end()) return 0;
  return ChunkOfRoutes(route, keys_->ElementsOf(key), keys_->BordersOf(key).size() + 1, known->second);
}

RoundOutcome JobRounds::Request(Timestamp now, NodeId node, const PolicyRequest& request) {
  pacer_.Measure(now, keys_->version().value());
  RoundOutcome outcome;
  for (const PolicyRequest::Entry& entry : request.entries) RequestOne(node, entry, outcome);
  return outcome;
}

RoundOutcome JobRounds::Rebind(Timestamp now, const EpochPlanRecord& plan, const std::vector<NodeId>& members) {
  pacer_.Measure(now, keys_->version().value());
  is_frozen_ = false;
  has_departed_ = false;
  const auto known = chunks_of_.find(plan.policy);
  UsePolicy(plan.policy, members.size(), known == chunks_of_.end() ? 0 : known->second);
  // Another set of members reports what it holds.
  tallies_.clear();
  digests_.Clear();
  BANYAN_CHECK(ledger_.Rebind(plan));
  for (const EpochPlan::Frontier& run : plan.frontiers) pacer_.NoteOpen(run.first_open);
  RoundOutcome outcome;
  UnparkAll(members, outcome);
  return outcome;
}

bool JobRounds::AdoptRoutes() {
  BANYAN_CHECK(!cut_.has_value() && routes_ != nullptr);
  std::map<KeyId, KeyRoutes> routes;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) routes.emplace(key, routes_->RouteOf(key));
  if (routes == adopted_) return false;
  adopted_ = std::move(routes);
  ++adoptions_;
  return true;
}

bool JobRounds::IsWorthCutting() const {
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    // Another route is wanted as soon as can be.
    const Round next = AfterClosed(key).Next();
    const RoundLeases::Range leases = ledger_.leases().Of(key);
    const bool has_other_route = std::any_of(leases.begin(), leases.end(), [&](const auto& entry) {
      return entry.second.last >= next && entry.second.route != RouteOf(key, next);
    });
    // Members ask one round ahead, and what they hold is closed a round later.
    const Round soon(next.value() + 2 * rounds_in_flight_ + 1);
    if (has_other_route || ledger_.HasOutdated(key, soon, policy_, RouteOf(key, soon))) return true;
  }
  return false;
}

CutRecord JobRounds::PlanCut(const std::map<KeyId, Round>& begun) const {
  BANYAN_CHECK(cut_.has_value());
  CutRecord cut = {*cut_, {}};
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    const auto of_key = begun.find(key);
    // What is closed was begun by all. Round 0 has a lease of its own, and stays where it is.
    const Round from = std::max({Round(1), of_key == begun.end() ? Round(0) : of_key->second, AfterClosed(key)});
    const KeyRoutes route = RouteOf(key, from);
    if (!ledger_.HasOutdated(key, from, cut.policy, route)) continue;
    cut.rounds.push_back({key, from, route, ChunkOf(key, cut.policy, route)});
  }
  return cut;
}

std::vector<PolicyAnswer::Binding> JobRounds::FinishCut(const CutRecord& cut) {
  BANYAN_CHECK(std::exchange(cut_, std::nullopt).has_value());
  for (const CutRecord::Entry& entry : cut.rounds) {
    BANYAN_CHECK(ledger_.Cut(entry.key, entry.round, cut.policy, entry.route, entry.chunk_max_elements));
  }
  std::vector<PolicyAnswer::Binding> leases;
  for (const BoundRounds& lease : ledger_.OpenBindings()) leases.push_back(lease.ToAnswer());
  // Equal leases of consecutive keys follow each other, so that they travel as one.
  std::stable_sort(leases.begin(), leases.end(), [](const PolicyAnswer::Binding& a, const PolicyAnswer::Binding& b) {
    return a.first_round != b.first_round ? a.first_round < b.first_round : a.last_round < b.last_round;
  });
  return leases;
}

std::vector<ClosedEverywhere::Entry> JobRounds::ClosedBeyond() const {
  std::vector<ClosedEverywhere::Entry> entries;
  for (const auto& [key, closed] : ledger_.closed()) {
    for (const Round round : closed.beyond) entries.push_back({key, round});
  }
  return entries;
}

Round JobRounds::AfterLast(KeyId key) const {
  const RoundLeases::Range leases = ledger_.leases().Of(key);
  return leases.empty() ? AfterClosed(key) : std::max(AfterClosed(key), std::prev(leases.end())->second.last.Next());
}

std::vector<BoundRounds> JobRounds::OpenFrom(KeyId key, Round first) const {
  std::vector<BoundRounds> runs;
  const ClosedRounds& closed = ledger_.ClosedOf(key);
  for (const BoundRounds& lease : ledger_.OpenBindingsOf(key)) {
    bool is_run = false;
    for (Round round = std::max(lease.first_round, first); round <= lease.last_round; round = round.Next()) {
      const bool is_open = !closed.Contains(round);
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

bool JobRounds::HasBegun() const { return bindings() > 0 || !ledger_.closed().empty(); }

bool JobRounds::HasReported(NodeId node, KeyId key, Round round) const {
  const auto tally = tallies_.find({key, round});
  if (tally == tallies_.end()) return false;
  const std::vector<bool>& reported = tally->second.reported;
  return node.value() < reported.size() && reported[node.value()];
}

RoundOutcome JobRounds::Report(Timestamp now, NodeId node, const RoundsClosed& report) {
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

void JobRounds::Restore(RoundLedger ledger) {
  ledger_ = std::move(ledger);
  for (const auto& [start, lease] : ledger_.leases()) pacer_.NoteLease(lease.last.value() - start.second.value() + 1);
  for (const auto& [key, closed] : ledger_.closed()) pacer_.NoteOpen(closed.first_open);
}

std::string JobRounds::Describe(KeyId key, Round round) const {
  const std::string name =
      keys_->Contains(key) ? absl::StrCat("key '", keys_->NameOf(key), "'") : absl::StrCat("unknown key ", key.value());
  return absl::StrCat("round ", round.value(), " of ", name);
}

void JobRounds::RequestOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  if (!keys_->Contains(entry.key)) {
    outcome.rejections.push_back(absl::StrCat("a policy request for ", Describe(entry.key, entry.round)));
  } else if (ledger_.ClosedOf(entry.key).Contains(entry.round)) {
    // A copy from before a reconnect: its sender has reported the round since.
  } else if (is_frozen_ || !InWindow(entry.key, entry.round)) {
    Park(node, entry, outcome);
  } else {
    AnswerOne(node, entry, outcome);
  }
}

void JobRounds::Park(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  const uint64_t open = FirstOpen(entry.key).value();
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

void JobRounds::AnswerOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  std::optional<BoundRounds> binding = ledger_.Find(entry.key, entry.round);
  if (!binding.has_value() && has_departed_) return Park(node, entry, outcome);
  // All members hear of it when the cut is over.
  if (cut_.has_value() && binding.has_value()) {
    const RoundLeases::Lease& lease = ledger_.leases().Find(entry.key, entry.round)->second;
    if (lease.IsOutdated(*cut_, RouteOf(entry.key, entry.round))) return;
  }
  if (!binding.has_value()) {
    binding = Bind(entry.key, entry.round);
    outcome.new_bindings.push_back(*binding);
  }
  std::vector<PolicyAnswer::Binding>& answered = BindingsFor(node, outcome);
  const PolicyAnswer::Binding answer = binding->ToAnswer();
  if (answered.empty() || answered.back() != answer) answered.push_back(answer);
}

BoundRounds JobRounds::Bind(KeyId key, Round round) {
  uint64_t last = round.value() + (round == Round(0) ? 0 : pacer_.length() - 1);
  for (const auto& [start, lease] : ledger_.leases().Of(key)) {
    if (start.second > round) last = std::min(last, start.second.value() - 1);
  }
  const KeyRoutes route = RouteOf(key, round);
  if (routes_ != nullptr && round > Round(0)) adopted_.emplace(key, route);
  const BoundRounds bound = {key, round, Round(last), policy_, Attempt(0), ChunkOf(key, policy_, route), route};
  BANYAN_CHECK(ledger_.Bind(bound));
  return bound;
}

void JobRounds::ReportRun(NodeId node, const RoundsClosed::Entry& entry, RoundOutcome& outcome) {
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

void JobRounds::Take(const ResultDigests::Differences& differences, RoundOutcome& outcome) const {
  for (const ResultDigests::Difference& difference : differences) {
    if (difference.is_outlier) {
      outcome.outliers.emplace_back(difference.node, Describe(difference));
    } else {
      outcome.failure = absl::DataLossError(Describe(difference));
    }
  }
}

bool JobRounds::ReportOne(NodeId node, KeyId key, Round round, RoundOutcome& outcome) {
  if (ledger_.ClosedOf(key).Contains(round)) {
    outcome.closed_before.push_back(ClosedEverywhere::Entry{key, round});
    return false;
  }
  const std::optional<BoundRounds> binding = ledger_.Find(key, round);
  if (!binding.has_value()) {
    outcome.rejections.push_back(absl::StrCat("a report that ", Describe(key, round), " is closed, which never began"));
    return false;
  }
  const auto position = tallies_.try_emplace({key, round}).first;
  Tally& tally = position->second;
  if (tally.reported.size() <= node.value()) tally.reported.resize(node.value() + 1, false);
  if (!tally.reported[node.value()]) ++tally.reports;
  tally.reported[node.value()] = true;
  if (tally.reports < member_count_) return true;
  tallies_.erase(position);
  CountClosed(key, round, binding->route);
  BANYAN_CHECK(ledger_.Close(key, round));
  pacer_.NoteOpen(FirstOpen(key));
  outcome.closed.push_back(ClosedEverywhere::Entry{key, round});
  return true;
}

std::string JobRounds::Describe(const ResultDigests::Difference& difference) const {
  const std::string more =
      difference.first_key == difference.last_key ? "" : absl::StrCat(" to '", keys_->NameOf(difference.last_key), "'");
  return absl::StrFormat(
      "%s%s: the result of %s has hash %016x and that of %s %016x; replicas are not identical%s",
      Describe(difference.first_key, difference.round), more, NameOf(difference.node), difference.digest,
      NameOf(difference.other), difference.other_digest,
      difference.is_outlier ? absl::StrCat("; most members agree with ", NameOf(difference.other)) : "");
}

void JobRounds::Unpark(KeyId key, RoundOutcome& outcome) {
  for (auto next = parked_.lower_bound(ParkedId{key, Round(0), NodeId(0)});
       next != parked_.end() && next->key == key && InWindow(key, next->round);) {
    const PolicyRequest::Entry entry = {key, next->round};
    const NodeId node = next->node;
    next = parked_.erase(next);
    RequestOne(node, entry, outcome);
  }
}

void JobRounds::UnparkAll(const std::vector<NodeId>& members, RoundOutcome& outcome) {
  for (const ParkedId& parked : std::exchange(parked_, {})) {
    if (!std::binary_search(members.begin(), members.end(), parked.node)) continue;
    RequestOne(parked.node, {parked.key, parked.round}, outcome);
  }
}

const std::string& JobRounds::NameOf(NodeId node) const {
  BANYAN_CHECK(node.value() >= 1 && node.value() <= node_names_.size());
  return node_names_[node.value() - 1];
}

bool JobRounds::InWindow(KeyId key, Round round) const {
  return round.value() < FirstOpen(key).value() + window_rounds();
}

}  // namespace banyan
