#include "scheduler/open_round.h"

#include <algorithm>
#include <map>
#include <utility>

namespace banyan {
namespace {

using Pushed = std::map<std::pair<KeyId, NodeId>, Round>;

bool IsHere(const Member& member) { return member.is_member && member.state != MemberState::kLeft; }

// Returns whether the node was in the round before, or is in this one.
bool IsInStep(const NodeReport& report, KeyId key, Round round) {
  return std::any_of(report.progress.begin(), report.progress.end(),
                     [key, round](const auto& row) { return row.key == key && row.pushed.Next() >= round; });
}

// Nobody waits for what no worker can do: such nodes abstain. Those of the start do not. A worker that came later takes
// no part in open rounds, of keys that it has not come to either.
bool IsAbstainer(const Member& member, const NodeReport* report, Epoch oldest, KeyId key, Round round) {
  if (report != nullptr && report->workers_attached > 0) return member.is_workerless && !IsInStep(*report, key, round);
  return member.is_workerless || (report != nullptr && member.joined_in > oldest);
}

Epoch OldestMember(const Membership& members) {
  Epoch oldest(UINT64_MAX);
  for (const Member& member : members.all()) {
    if (IsHere(member)) oldest = std::min(oldest, member.joined_in);
  }
  return oldest;
}

Pushed CollectPushed(const Membership& members, const NodeReports& reports) {
  Pushed pushed;
  for (const Member& member : members.all()) {
    const NodeReport* const report = IsHere(member) ? reports.Find(member.id) : nullptr;
    if (report == nullptr) continue;
    for (const NodeReport::KeyProgress& row : report->progress) pushed[{row.key, member.id}] = row.pushed;
  }
  return pushed;
}

// Returns whether all workers of the node have pushed the round.
bool HasPushed(const NodeReport* report, KeyId key, Round round) {
  if (report == nullptr) return false;
  for (const NodeReport::Missing& row : report->missing) {
    if (row.key == key && row.round <= round) return false;
  }
  return std::any_of(report->progress.begin(), report->progress.end(),
                     [key, round](const auto& row) { return row.key == key && row.pushed >= round; });
}

}  // namespace

OpenRound LookAt(KeyId key, Round round, const JobRounds& rounds, const Membership& members,
                 const NodeReports& reports) {
  OpenRound open{key, round, {}, {}};
  if (round < rounds.FirstOpen(key)) return open;
  const Epoch oldest = OldestMember(members);
  for (const Member& member : members.all()) {
    if (!IsHere(member)) continue;
    const NodeReport* const report = reports.Find(member.id);
    const bool is_awaited = !IsAbstainer(member, report, oldest, key, round);
    const bool holds = rounds.HasReported(member.id, key, round);
    if (is_awaited && !holds && !HasPushed(report, key, round)) open.not_pushed.push_back(member.id);
    if (!holds) open.not_held.push_back(member.id);
  }
  if (!open.not_pushed.empty()) open.not_held.clear();
  return open;
}

std::optional<OpenRound> FindOpenRound(const KeyTable& keys, const JobRounds& rounds, const Membership& members,
                                       const NodeReports& reports) {
  std::optional<std::pair<Round, KeyId>> oldest;
  for (const auto& [of, round] : CollectPushed(members, reports)) {
    const KeyId key = of.first;
    if (!keys.Contains(key) || round < rounds.FirstOpen(key)) continue;
    if (!oldest.has_value() || rounds.FirstOpen(key) < oldest->first) oldest = {rounds.FirstOpen(key), key};
  }
  if (!oldest.has_value()) return std::nullopt;
  return LookAt(oldest->second, oldest->first, rounds, members, reports);
}

}  // namespace banyan
