#include "node/workers/late_workers.h"

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "node/rounds/optimizer.h"
#include "node/workers/call_subject.h"

namespace banyan {
namespace {

bool TakesPart(const LocalKey& local, size_t worker) {
  return local.has_init[worker] && local.last_push[worker] != LocalKey::kFetching;
}

// Returns whether the worker has asked for the result of its last push, which is complete, or had it before it began.
bool HasAskedForLast(const LocalKey& local, uint32_t worker) {
  const auto pushed = local.rounds.find(local.last_push[worker]);
  return pushed == local.rounds.end() || !pushed->second.HasPart(WorkerId(worker)) || pushed->second.asked[worker];
}

}  // namespace

std::vector<LocalKey*> LateWorkers::OnQuorum(Timestamp now, const std::vector<KeyProgressRun>& runs) {
  std::vector<LocalKey*> keys;
  if (!is_on()) return keys;
  for (const KeyProgressRun& run : runs) {
    for (uint64_t offset = 0; offset <= run.more_keys; ++offset) {
      LocalKey* const local = keys_->Find(KeyId(static_cast<uint32_t>(run.key.value() + offset)));
      if (local == nullptr || run.round <= local->quorum) continue;
      // Of a round that waits already the time goes on.
      if (local->quorum < local->next_contribution) local->quorum_since = now;
      if (run.round == local->last_complete.Next()) grace_.OnStep(now - local->completed_at);
      local->quorum = run.round;
      keys.push_back(local);
    }
  }
  return keys;
}

std::optional<Round> LateWorkers::NextDue(Timestamp now, const LocalKey& local) {
  const Round next = local.next_contribution;
  const bool is_exact = ReductionOf(local.layout.type) != Reduction::kOfJob;
  const bool may_be_late = is_on() && !is_exact && local.takes_part && next > Round(0) && next <= local.quorum &&
                           next < local.waits_from && engine_->HasCompleted(local.key, Round(next.value() - 1));
  if (!may_be_late) return std::nullopt;
  const auto open = local.rounds.find(next);
  const bool is_other =
      open != local.rounds.end() && open->second.pushed > 0 && open->second.kind != RoundKind::kAggregate;
  if (is_other) return std::nullopt;
  bool has_late = false, has_other = false;  // who is behind already; who was in time so far
  for (size_t worker = 0; worker < local.has_init.size(); ++worker) {
    if (!TakesPart(local, worker) || local.last_push[worker] >= next) continue;
    (local.last_push[worker].Next() < next ? has_late : has_other) = true;
  }
  if (!has_late && !has_other) return std::nullopt;
  const Timestamp due = has_other ? local.quorum_since + grace_.wait() : local.quorum_since;
  if (due <= now) return next;
  deadlines_.emplace(due, local.key);
  return std::nullopt;
}

std::vector<LocalKey*> LateWorkers::TakeDue(Timestamp now) {
  std::vector<LocalKey*> keys;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    LocalKey* const local = keys_->Find(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    if (local != nullptr) keys.push_back(local);
  }
  return keys;
}

void LateWorkers::LeaveOut(LocalKey& local, Round round) {
  ++late_rounds_;
  LocalRound& state = local.rounds.at(round);
  for (uint32_t worker = 0; worker < local.has_init.size(); ++worker) {
    if (!TakesPart(local, worker) || local.last_push[worker] >= round) continue;
    ++state.late;
    if (local.last_push[worker].Next() == round) local.left_out_since[worker] = local.quorum_since;
    local.late_through[worker] = round;
    if (local.missed.contains(worker)) continue;
    const Round last = local.last_push[worker];
    const bool has_asked = HasAskedForLast(local, worker);
    const Round given = has_asked ? last : Round(last.value() - 1);
    MissedResults& missed = local.missed.emplace(worker, MissedResults(given)).first->second;
    // It may still ask for it, when it is gone from the engine.
    if (!has_asked) Keep(local, last, missed);
  }
}

bool LateWorkers::Counts(const LocalKey& local, Round round) const {
  const LocalRound& state = local.rounds.at(round);
  const bool is_of_all = state.contributed && state.kind == RoundKind::kAggregate && state.late == 0;
  return is_on() && is_of_all && round > Round(0) && engine_->HasCompleted(local.key, Round(round.value() - 1));
}

absl::Status LateWorkers::TakeLatePush(LocalKey& local, WorkerId worker, RoundKind kind, const Buffer& gradient) {
  if (kind != RoundKind::kAggregate) {
    return absl::FailedPreconditionError(absl::StrCat(RoundText(local.name, local.last_push[worker.value()].Next()),
                                                      ": the others have pushed a ", NameOf(RoundKind::kAggregate),
                                                      ", but worker ", worker.value(), " a ", NameOf(kind)));
  }
  if (gradient.empty()) return absl::OkStatus();
  ++local.owed_gradients;
  if (local.owed.empty()) {
    local.owed = WidenedCopy(gradient);
  } else {
    AddInto(PlainChunk(gradient, 1), local.owed);
  }
  return absl::OkStatus();
}

void LateWorkers::OnPush(Timestamp now, LocalKey& local, WorkerId worker) {
  if (!is_on()) return;
  const Round round = local.last_push[worker.value()].Next();
  const Timestamp left_out_since = std::exchange(local.left_out_since[worker.value()], Timestamp());
  if (left_out_since > Timestamp()) {
    grace_.OnArrival(round, now - left_out_since);
  } else if (!IsLate(local, worker) && round == local.next_contribution) {
    const bool is_gained = round <= local.quorum;
    gained_ += is_gained ? 1 : 0;
    grace_.OnArrival(round, is_gained ? now - local.quorum_since : absl::ZeroDuration());
  }
  const auto missed = local.missed.find(worker.value());
  if (missed == local.missed.end()) return;
  const bool is_over = missed->second.is_given() && !IsLate(local, worker);
  if (is_over) {
    local.missed.erase(missed);
  } else {
    missed->second.OnPushed(results_replace_);
  }
}

void LateWorkers::OnContribute(Timestamp now, LocalKey& local, Round round) {
  if (!is_on() || round > local.quorum) return;
  waited_ += now - local.quorum_since;
  // The wait for the next round begins, where a quorum has pushed that as well.
  local.quorum_since = now;
}

void LateWorkers::Keep(const LocalKey& local, Round round, MissedResults& missed) const {
  MissedResults::Parts parts;
  engine_->Replay(local.key, round,
                  [&parts](int64_t first_element, const Buffer& values) { parts.emplace_back(first_element, values); });
  const auto state = local.rounds.find(round);
  const bool is_broadcast = state != local.rounds.end() && state->second.kind == RoundKind::kBroadcast;
  const bool is_sum = !is_broadcast && ReductionOf(local.layout.type) <= Reduction::kSum;
  missed.Add(round, std::move(parts), local.elements, results_replace_ || !is_sum);
}

void LateWorkers::OnRoundComplete(Timestamp now, LocalKey& local, Round round) {
  // Later than this Step: the engine is in the middle of it.
  if (is_on() && local.next_contribution <= local.quorum) deadlines_.emplace(now, local.key);
  local.completed_at = now;
  for (auto& [worker, missed] : local.missed) {
    if (missed.through() < round) Keep(local, round, missed);
  }
}

MissedResults* LateWorkers::Find(LocalKey& local, WorkerId worker, Round round) {
  const auto missed = local.missed.find(worker.value());
  return missed == local.missed.end() || missed->second.through() < round ? nullptr : &missed->second;
}

void LateWorkers::AddTo(NodeReport& report) const {
  if (!is_on()) return;
  report.late_rounds = late_rounds_;
  report.grace_seconds = absl::ToDoubleSeconds(grace_.wait());
  report.gained_gradients = gained_;
  report.waited_ms = static_cast<uint64_t>(absl::ToInt64Milliseconds(waited_));
  report.memory.push_back({"late workers", static_cast<uint64_t>(size_bytes())});
}

int64_t LateWorkers::size_bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, local] : keys_->by_name()) {
    bytes += local.owed.size_bytes();
    for (const auto& [worker, missed] : local.missed) bytes += missed.size_bytes();
  }
  return bytes;
}

}  // namespace banyan
