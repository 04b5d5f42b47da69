#include "node/workers/late_workers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "node/rounds/optimizer.h"
#include "node/workers/call_subject.h"

namespace banyan {
namespace {

bool TakesPart(const LocalKey& local, size_t worker) {
  return local.has_init[worker] && local.last_push[worker] != LocalKey::kFetching;
}

// Returns the last round of which the worker has the result already, or had before it began.
Round LastGiven(const LocalKey& local, uint32_t worker) {
  const Round last = local.last_push[worker];
  Round given = last;
  while (given > Round(0)) {
    const auto pushed = local.rounds.find(given);
    if (pushed == local.rounds.end() || !pushed->second.HasPart(WorkerId(worker))) break;
    // Who has not asked for its last result may still do so.
    if (pushed->second.complete && (given < last || pushed->second.asked[worker])) break;
    given = Round(given.value() - 1);
  }
  return given;
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
      local->quorum = run.round;
      keys.push_back(local);
    }
  }
  return keys;
}

std::optional<Round> LateWorkers::NextDue(Timestamp now, const LocalKey& local) {
  const Round next = local.next_contribution;
  const bool may_be_late = is_on() && local.takes_part && next > Round(0) && next <= local.quorum &&
                           next < local.waits_from && engine_->HasCompleted(local.key, Round(0));
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
  const Timestamp due = has_other ? local.quorum_since + grace_ : local.quorum_since;
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
    local.late_through[worker] = round;
    if (local.missed.contains(worker)) continue;
    const Round last = local.last_push[worker];
    MissedResults& missed = local.missed.emplace(worker, MissedResults(LastGiven(local, worker))).first->second;
    const auto pushed = local.rounds.find(last);
    if (missed.through() < last && pushed->second.complete) Keep(local, last, missed);
  }
}

bool LateWorkers::Counts(const LocalKey& local, Round round) const {
  const LocalRound& state = local.rounds.at(round);
  if (!is_on() || state.kind != RoundKind::kAggregate || state.late > 0) return false;
  return std::all_of(local.rounds.begin(), local.rounds.lower_bound(round), [](const auto& before) {
    return before.second.complete || before.second.kind == RoundKind::kAggregate;
  });
}

absl::Status LateWorkers::TakeLatePush(LocalKey& local, WorkerId worker, RoundKind kind, const Buffer& gradient) {
  if (kind != RoundKind::kAggregate) {
    return absl::FailedPreconditionError(absl::StrCat(RoundText(local.name, local.last_push[worker.value()].Next()),
                                                      ": the others have pushed a ", NameOf(RoundKind::kAggregate),
                                                      ", but worker ", worker.value(), " a ", NameOf(kind)));
  }
  if (gradient.empty()) return absl::OkStatus();
  if (local.owed.empty()) {
    local.owed = Buffer::CopyOf(gradient.floats());
  } else {
    const absl::Span<float> sum = local.owed.mutable_floats();
    std::transform(sum.begin(), sum.end(), gradient.floats().begin(), sum.begin(), std::plus<float>());
  }
  return absl::OkStatus();
}

void LateWorkers::OnPush(LocalKey& local, WorkerId worker) const {
  const auto missed = local.missed.find(worker.value());
  if (missed == local.missed.end()) return;
  const bool is_over = missed->second.is_given() && !IsLate(local, worker);
  if (is_over) {
    local.missed.erase(missed);
  } else {
    missed->second.OnPushed(results_replace_);
  }
}

void LateWorkers::Keep(const LocalKey& local, Round round, MissedResults& missed) const {
  MissedResults::Parts parts;
  engine_->Replay(local.key, round,
                  [&parts](int64_t first_element, const Buffer& values) { parts.emplace_back(first_element, values); });
  const auto state = local.rounds.find(round);
  const bool is_broadcast = state != local.rounds.end() && state->second.kind == RoundKind::kBroadcast;
  missed.Add(round, std::move(parts), local.elements, results_replace_ || is_broadcast);
}

void LateWorkers::OnRoundComplete(Timestamp now, LocalKey& local, Round round) {
  // Later than this Step: the engine is in the middle of it.
  if (is_on() && local.next_contribution <= local.quorum) deadlines_.emplace(now, local.key);
  for (auto& [worker, missed] : local.missed) {
    if (missed.through() < round) Keep(local, round, missed);
  }
}

MissedResults* LateWorkers::Find(LocalKey& local, WorkerId worker, Round round) {
  const auto missed = local.missed.find(worker.value());
  return missed == local.missed.end() || missed->second.through() < round ? nullptr : &missed->second;
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
