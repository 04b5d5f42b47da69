#include "scheduler/rounds/round_book.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
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

RoundBook::RoundBook(const KeyTable* keys, std::vector<std::string> node_names, uint32_t lease_rounds,
                     uint32_t rounds_in_flight)
    : keys_(keys),
      node_names_(std::move(node_names)),
      window_rounds_(std::max(kMinOpenWindowRounds, kOpenWindowFactor * (uint64_t{lease_rounds} + rounds_in_flight))),
      bindings_(lease_rounds) {}

void RoundBook::UsePolicy(PolicyVersion policy, size_t member_count) {
  policy_ = policy;
  member_count_ = member_count;
}

RoundOutcome RoundBook::Request(NodeId node, const PolicyRequest& request) {
  RoundOutcome outcome;
  for (const PolicyRequest::Entry& entry : request.entries) RequestOne(node, entry, outcome);
  return outcome;
}

RoundOutcome RoundBook::Report(NodeId node, const RoundsClosed& report) {
  RoundOutcome outcome;
  for (const RoundsClosed::Entry& entry : report.entries) {
    ReportOne(node, entry, outcome);
    if (!outcome.failure.ok()) return outcome;
  }
  for (const ClosedEverywhere::Entry& entry : outcome.closed) Unpark(entry.key, outcome);
  return outcome;
}

void RoundBook::RestoreClosed(KeyId key, const ClosedRounds& closed) {
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
  } else if (!InWindow(entry.key, entry.round)) {
    Park(node, entry, outcome);
  } else {
    AnswerOne(node, entry, outcome);
  }
}

void RoundBook::Park(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  const uint64_t ahead = entry.round.value() - closer_.FirstOpen(entry.key).value();
  if (ahead >= 2 * window_rounds_ || parked_.size() >= kMaxParkedRequests) {
    outcome.rejections.push_back(absl::StrCat("a policy request for ", Describe(entry.key, entry.round), ", ", ahead,
                                              " rounds after the oldest open one; ", window_rounds_, " may be open"));
    return;
  }
  parked_.insert(ParkedId{entry.key, entry.round, node});
}

void RoundBook::AnswerOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome) {
  std::optional<PolicyAnswer::Binding> binding = bindings_.Find(entry.key, entry.round);
  if (!binding.has_value() && has_departed_) return;
  if (!binding.has_value()) {
    binding = bindings_.Bind(entry.key, entry.round, policy_);
    outcome.new_bindings.push_back(*binding);
  }
  std::vector<PolicyAnswer::Binding>& answered = BindingsFor(node, outcome);
  if (answered.empty() || answered.back() != *binding) answered.push_back(*binding);
}

void RoundBook::ReportOne(NodeId node, const RoundsClosed::Entry& entry, RoundOutcome& outcome) {
  if (closer_.IsClosed(entry.key, entry.round)) {
    outcome.closed_before.push_back(ClosedEverywhere::Entry{entry.key, entry.round});
    return;
  }
  if (!bindings_.Find(entry.key, entry.round).has_value()) {
    outcome.rejections.push_back(
        absl::StrCat("a report that ", Describe(entry.key, entry.round), " is closed, which never began"));
    return;
  }
  switch (closer_.Report(node, entry.key, entry.round, entry.hash, member_count_)) {
    case RoundCloser::Outcome::kOpen:
      return;
    case RoundCloser::Outcome::kClosed:
      bindings_.Forget(entry.key, entry.round);
      outcome.closed.push_back(ClosedEverywhere::Entry{entry.key, entry.round});
      return;
    case RoundCloser::Outcome::kDiffers:
      break;
  }
  const RoundCloser::FirstReport first = closer_.FirstReportOf(entry.key, entry.round);
  outcome.failure = absl::DataLossError(
      absl::StrFormat("%s: the result of %s has hash %016x and that of %s %016x; replicas are not identical",
                      Describe(entry.key, entry.round), NameOf(first.node), first.hash, NameOf(node), entry.hash));
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

const std::string& RoundBook::NameOf(NodeId node) const {
  BANYAN_CHECK(node.value() >= 1 && node.value() <= node_names_.size());
  return node_names_[node.value() - 1];
}

bool RoundBook::InWindow(KeyId key, Round round) const {
  return round.value() < closer_.FirstOpen(key).value() + window_rounds_;
}

}  // namespace banyan
