#include "node/scheduler_client.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "node/step_context.h"
#include "proto/message_parts.h"
#include "proto/scheduler_messages.h"

namespace banyan {

namespace {

constexpr absl::Duration kJoinAgainAfter = absl::Seconds(5);
// Joins on one connection: with no answer to so many it may carry nothing.
constexpr int kMostUnanswered = 2;

// Returns the results with their hashes as runs of keys, by round.
std::vector<RoundsClosed::Entry> RunsOf(const std::vector<std::pair<std::pair<KeyId, Round>, uint64_t>>& results) {
  std::map<std::pair<Round, KeyId>, uint64_t> by_round;
  for (const auto& [result, hash] : results) by_round[{result.second, result.first}] = ResultDigest(result.first, hash);
  std::vector<RoundsClosed::Entry> runs;
  for (const auto& [result, digest] : by_round) {
    const auto& [round, key] = result;
    RoundsClosed::Entry* last = runs.empty() ? nullptr : &runs.back();
    const bool goes_on =
        last != nullptr && last->round == round && last->key.value() + last->more_keys + 1 == key.value();
    // What was not read has no digest, and takes it from no other.
    if (goes_on && (last->hash == 0) == (digest == 0)) {
      last->hash += digest;
      ++last->more_keys;
    } else {
      runs.push_back({key, round, digest});
    }
  }
  return runs;
}

// Of a scheduler that there is not: any that knows a later one passes over what this one says.
constexpr Term kFirstTerm(1);

template <typename... Kinds>
bool IsAnyOf(const Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

}  // namespace

std::optional<Message> AnswerAsNoScheduler(const Message& message, const std::string& name,
                                           const std::string& scheduler) {
  const std::string reason = absl::StrCat("this is the port of node ", name, ", not of a scheduler; ", name,
                                          "'s scheduler is at ", scheduler, ": give that one with --scheduler");
  if (IsAnyOf<Join>(message)) return JoinRefused{.term = kFirstTerm, .reason = reason};
  if (IsAnyOf<StatusRequest, Reconfigure, StopJob, RemoveNode, VetoLowBit, TraceRounds>(message))
    return OperatorReply{false, reason};
  return std::nullopt;
}

SchedulerClient::SchedulerClient(Join join, std::vector<std::string> addresses)
    : join_(std::move(join)), connections_(std::move(addresses)) {}

void SchedulerClient::Start(StepContext& step) {
  connections_.Start(step);
  Wait(step.now);
  step.Log(LogLevel::kInfo, absl::StrCat(join_.name, " waits for the scheduler at ", connections_.address()));
}

void SchedulerClient::OnConnectionUp(StepContext& step, ConnectionId connection) {
  connections_.OnUp(connection);
  connect_failure_.clear();
  connect_reason_.clear();
  unanswered_joins_ = 0;
  // How long another one was silent says nothing of it.
  turned_at_ = step.now;
  JoinAgain(step);
}

void SchedulerClient::OnConnectionDown(StepContext& step, ConnectionId connection) {
  const bool was_in_use = connections_.IsInUse(connection);
  if (connections_.OnDown(connection)) {
    turned_at_ = step.now;
    return JoinAgain(step);
  }
  if (!was_in_use) return;
  Wait(step.now);
  next_join_ = kNever;
}

void SchedulerClient::OnConnectFailed(StepContext& step, ConnectionId connection, const std::string& reason) {
  const std::string failure =
      absl::StrCat("cannot reach the scheduler at ", connections_.AddressOf(connection), ": ", reason);
  connect_reason_ = reason;
  if (std::exchange(connect_failure_, failure) == failure || connections_.in_use().has_value()) return;
  step.Log(LogLevel::kWarning, failure);
}

void SchedulerClient::Send(StepContext& step, Message message) {
  Flush(step);
  Transmit(step, std::move(message));
}

void SchedulerClient::Transmit(StepContext& step, Message message) const {
  const std::optional<ConnectionId> connection = connections_.in_use();
  if (connection.has_value()) step.SendTo(*connection, std::move(message));
}

void SchedulerClient::Wait(Timestamp now) {
  joined_ = false;
  if (say_waits_at_ != kNever) return;
  waits_since_ = now;
  say_waits_at_ = now + kSayWaitsEvery;
}

void SchedulerClient::SayWaits(StepContext& step) {
  say_waits_at_ = step.now + kSayWaitsEvery;
  const std::string why = connections_.in_use().has_value() ? "connected, and not let in yet" : connect_failure_;
  step.Log(LogLevel::kWarning,
           absl::StrCat(join_.name, " still waits for the scheduler at ", connections_.address(), ", for ",
                        absl::FormatDuration(absl::Trunc(step.now - waits_since_, absl::Seconds(1))),
                        why.empty() ? "" : absl::StrCat(" (", why, ")")));
}

void SchedulerClient::JoinAgain(StepContext& step) {
  Wait(step.now);
  Transmit(step, join_);
  next_join_ = step.now + kJoinAgainAfter;
}

void SchedulerClient::OnJoinAccepted(StepContext& step, const JoinAccepted& accepted) {
  joined_ = true;
  has_joined_ = true;
  unanswered_joins_ = 0;
  next_join_ = kNever;
  say_waits_at_ = kNever;
  start_ = accepted.start;
  joined_term_ = accepted.term;
  heartbeat_ = accepted.config.heartbeat;
  lost_after_ = accepted.config.lost_after;
  next_heartbeat_ = step.now + heartbeat_;
  registering_.SayAgain();
  policies_.SayAgain();
  closed_.SayAgain();
  closed_goes_at_once_ = closed_.has_unsaid();
  barriers_.SayAgain();
  pushed_.SayAgain();
  for (const Message& message : announcements_) Transmit(step, message);
  const std::vector<std::string> learned = connections_.Learn(step, accepted.config.schedulers);
  if (learned.empty()) return;
  step.Log(LogLevel::kInfo, absl::StrCat(join_.name, " has learned of schedulers at ", absl::StrJoin(learned, ", ")));
}

bool SchedulerClient::IsForgetful(const JoinAccepted& accepted) const {
  if (!has_joined_ || accepted.start == start_) return false;
  if (connections_.count() > 1 && accepted.term < joined_term_) return false;
  return accepted.term <= joined_term_ || accepted.is_first_join;
}

bool SchedulerClient::AcceptTerm(StepContext& step, Term term) {
  if (term < term_) {
    step.rejections.Reject("message of an older scheduler",
                           absl::StrCat("term ", term.value(), ", expected ", term_.value(), " or later"),
                           step.actions);
    return false;
  }
  term_ = term;
  last_heard_ = step.now;
  return true;
}

void SchedulerClient::RegisterKey(RegisterKeys::Key key) {
  const std::string name = key.name;
  registering_.Add(name, std::move(key));
}

void SchedulerClient::WantPolicy(KeyId key, Round round) { policies_.Add({key, round}, Nothing()); }

void SchedulerClient::ReportClosed(KeyId key, Round round, uint64_t hash, size_t keys) {
  if (!closed_.Add({key, round}, hash)) return;
  has_collected_ = true;
  const bool is_second = !collected_.insert(key).second;
  if (is_second || collected_.size() >= keys) closed_goes_at_once_ = true;
}

void SchedulerClient::EnterBarrier(uint64_t barrier) { barriers_.Add(barrier, Nothing()); }

void SchedulerClient::OnPolicyAnswered(const PolicyAnswer::Binding& binding) {
  policies_.OnAnswered({binding.key, binding.first_round}, {binding.key, binding.last_round});
}

void SchedulerClient::OnFrontier(KeyId key, Round first_open) {
  if (first_open == Round(0)) return;
  const Round last(first_open.value() - 1);
  policies_.OnAnswered({key, Round(0)}, {key, last});
  closed_.OnAnswered({key, Round(0)}, {key, last});
}

void SchedulerClient::OnNewEpoch() {
  pushed_.SayAgain();
  policies_.SayAgain();
  closed_.SayAgain();
  closed_goes_at_once_ = closed_.has_unsaid();
}

void SchedulerClient::Announce(StepContext& step, Message message) {
  FlushClosed(step);
  if (joined_) Send(step, message);
  announcements_.push_back(std::move(message));
}

void SchedulerClient::TakeBackComplaints() {
  std::erase_if(announcements_, [](const Message& message) {
    const auto* broken = std::get_if<RoundBroken>(&message);
    return broken != nullptr && broken->culprit != NodeId();
  });
}

void SchedulerClient::Collect(StepContext& step) {
  if (!joined_) return;
  const bool has_unsaid =
      registering_.has_unsaid() || policies_.has_unsaid() || barriers_.has_unsaid() || pushed_.has_unsaid();
  if (has_unsaid) flush_at_ = std::min(flush_at_, step.now);
  CollectClosed(step.now);
}

void SchedulerClient::CollectClosed(Timestamp now) {
  const bool has_new = std::exchange(has_collected_, false);
  if (!closed_.has_unsaid()) return;
  if (!collects_closed_since_.has_value()) collects_closed_since_ = now;
  if (has_new) flush_closed_at_ = std::min(now + kCollectClosed, *collects_closed_since_ + kMostCollectClosed);
  if (closed_goes_at_once_) flush_closed_at_ = now;
}

void SchedulerClient::FlushClosed(StepContext& step) {
  flush_closed_at_ = kNever;
  collects_closed_since_.reset();
  collected_.clear();
  closed_goes_at_once_ = false;
  if (!joined_ || !closed_.has_unsaid()) return;
  // There are many after the scheduler was away.
  SendInParts(RunsOf(closed_.TakeUnsaid()),
              [&](std::vector<RoundsClosed::Entry> part) { Transmit(step, RoundsClosed{std::move(part)}); });
}

void SchedulerClient::Flush(StepContext& step) {
  flush_at_ = kNever;
  if (!joined_) return;
  // Keys before the rounds on them.
  std::vector<RegisterKeys::Key> keys;
  for (auto& [name, key] : registering_.TakeUnsaid()) keys.push_back(std::move(key));
  SendInParts(std::move(keys),
              [&](std::vector<RegisterKeys::Key> part) { Transmit(step, RegisterKeys{std::move(part)}); });
  std::vector<PolicyRequest::Entry> rounds;
  for (const auto& [round, nothing] : policies_.TakeUnsaid()) rounds.push_back({round.first, round.second});
  SendInParts(std::move(rounds),
              [&](std::vector<PolicyRequest::Entry> part) { Transmit(step, PolicyRequest{std::move(part)}); });
  for (const auto& [barrier, nothing] : barriers_.TakeUnsaid()) {
    Transmit(step, BarrierEntered{barrier});
  }
  FlushPushed(step);
}

void SchedulerClient::FlushPushed(StepContext& step) {
  std::vector<KeyProgressRun> runs;
  for (const auto& [key, round] : pushed_.TakeUnsaid()) {
    KeyProgressRun* const last = runs.empty() ? nullptr : &runs.back();
    const bool goes_on =
        last != nullptr && last->round == round && last->key.value() + last->more_keys + 1 == key.value();
    if (goes_on) {
      ++last->more_keys;
    } else {
      runs.push_back({key, round});
    }
  }
  SendInParts(std::move(runs),
              [&](std::vector<KeyProgressRun> part) { Transmit(step, RoundsPushed{std::move(part)}); });
}

bool SchedulerClient::OnDeadline(StepContext& step) {
  if (step.now >= flush_closed_at_) FlushClosed(step);
  if (step.now >= flush_at_) Flush(step);
  if (step.now >= next_join_) OnUnansweredJoin(step);
  if (step.now >= say_waits_at_) SayWaits(step);
  if (step.now < next_heartbeat_) return false;
  // When this process itself was stopped for a while, what the scheduler sent meanwhile is still to be read.
  const absl::Duration late = step.now - next_heartbeat_;
  if (late > heartbeat_ && last_heard_.has_value()) last_heard_ = std::min(*last_heard_ + late, step.now);
  next_heartbeat_ = step.now + heartbeat_;
  TurnAwayFromSilence(step);
  RenewSilent(step);
  if (joined_) Transmit(step, Heartbeat{step.now});
  return joined_;
}

void SchedulerClient::OnUnansweredJoin(StepContext& step) {
  JoinAgain(step);
  const std::optional<ConnectionId> connection = connections_.in_use();
  if (++unanswered_joins_ < kMostUnanswered || !connection.has_value()) return;
  unanswered_joins_ = 0;
  step.actions.emplace_back(std::in_place_type<Renew>, Renew{*connection});
}

void SchedulerClient::RenewSilent(StepContext& step) {
  const std::optional<ConnectionId> connection = connections_.in_use();
  if (!joined_ || !connection.has_value() || !last_heard_.has_value()) return;
  if (step.now - std::max({*last_heard_, turned_at_, renewed_at_}) <= kRenewAfter * lost_after_) return;
  renewed_at_ = step.now;
  step.actions.emplace_back(std::in_place_type<Renew>, Renew{*connection});
}

void SchedulerClient::TurnAwayFromSilence(StepContext& step) {
  const bool had_its_time = step.now - turned_at_ > lost_after_ && Silence(step.now) > lost_after_;
  if (!had_its_time || !connections_.OnSilence()) return;
  turned_at_ = step.now;
  if (!connections_.IsDoubtful()) return JoinAgain(step);
  // Both are silent by turns, and what stands between may have forgotten the one to the leader.
  step.actions.emplace_back(std::in_place_type<Renew>, Renew{*connections_.in_use()});
}

absl::Duration SchedulerClient::Silence(Timestamp now) const {
  return last_heard_.has_value() ? now - *last_heard_ : absl::ZeroDuration();
}

}  // namespace banyan
