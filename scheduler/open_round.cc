#include "scheduler/open_round.h"

#include <map>
#include <utility>

namespace banyan {
namespace {

using Pushed = std::map<std::pair<KeyId, NodeId>, Round>;

bool IsHere(const Member& member) { return member.is_member && member.state != MemberState::kLeft; }

Pushed CollectPushed(const Membership& members, const NodeReports& reports) {
  Pushed pushed;
  for (const Member& member : members.all()) {
    const NodeReport* const report = IsHere(member) ? reports.Find(member.id) : nullptr;
    if (report == nullptr) continue;
    for (const NodeReport::KeyProgress& row : report->progress) pushed[{row.key, member.id}] = row.pushed;
  }
  return pushed;
}

}  // namespace

std::optional<OpenRound> FindOpenRound(const KeyTable& keys, const RoundBook& rounds, const Membership& members,
                                       const NodeReports& reports) {
  const Pushed pushed = CollectPushed(members, reports);
  std::optional<OpenRound> oldest;
  for (const auto& [of, round] : pushed) {
    const KeyId key = of.first;
    if (!keys.Contains(key) || round < rounds.FirstOpen(key)) continue;
    if (!oldest.has_value() || rounds.FirstOpen(key) < oldest->round) oldest = {key, rounds.FirstOpen(key), {}, {}};
  }
  if (!oldest.has_value()) return oldest;
  for (const Member& member : members.all()) {
    if (!IsHere(member)) continue;
    const auto found = pushed.find({oldest->key, member.id});
    if (found == pushed.end() || found->second < oldest->round) oldest->not_pushed.push_back(member.id);
    if (!rounds.HasReported(member.id, oldest->key, oldest->round)) oldest->not_held.push_back(member.id);
  }
  if (!oldest->not_pushed.empty()) oldest->not_held.clear();
  return oldest;
}

}  // namespace banyan
