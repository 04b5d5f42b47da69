#include "scheduler/push_order.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr char kAdvice[] = "; all nodes must push the same keys in the same order, equally often in each step";

bool IsPushing(const Member& member) { return member.is_member && member.state != MemberState::kLeft; }

}  // namespace

std::map<KeyId, Round> PushOrder::OpenKeys() const {
  std::map<KeyId, Round> open;
  for (const Member& member : from_.membership->all()) {
    const NodeReport* const report = IsPushing(member) ? from_.reports->Find(member.id) : nullptr;
    if (report == nullptr) continue;
    for (const NodeReport::KeyProgress& row : report->progress) {
      if (!from_.keys->Contains(row.key)) continue;
      const Round first = from_.rounds->FirstOpen(row.key);
      if (row.pushed >= first) open[row.key] = first;
    }
  }
  return open;
}

PushOrder::Standing PushOrder::StandingOf(NodeId node, const std::map<KeyId, Round>& open) const {
  const NodeReport* const report = from_.reports->Find(node);
  if (report == nullptr || report->workers_attached == 0) return {};
  std::map<KeyId, Round> pushed;
  for (const NodeReport::KeyProgress& row : report->progress) pushed[row.key] = row.pushed;
  Standing standing;
  for (const auto& [key, round] : open) {
    const auto own = pushed.find(key);
    const bool has_pushed = own != pushed.end() && own->second >= round;
    (has_pushed ? standing.waiting : standing.missing).push_back(key);
  }
  return standing;
}

std::string PushOrder::RoundText(KeyId key) const {
  return absl::StrCat("round ", from_.rounds->FirstOpen(key).value(), " of key '", from_.keys->NameOf(key), "'");
}

std::string PushOrder::FindMutualWait() const {
  const std::map<KeyId, Round> open = OpenKeys();
  if (open.size() < 2) return "";
  std::vector<std::pair<NodeId, Standing>> standings;
  for (const Member& member : from_.membership->all()) {
    if (!IsPushing(member)) continue;
    Standing standing = StandingOf(member.id, open);
    if (standing.waiting.empty() || standing.missing.empty()) continue;
    // Each waits in a key that the other has not pushed.
    for (const auto& [other, its] : standings) {
      const auto mine =
          std::find_first_of(standing.waiting.begin(), standing.waiting.end(), its.missing.begin(), its.missing.end());
      const auto theirs =
          std::find_first_of(its.waiting.begin(), its.waiting.end(), standing.missing.begin(), standing.missing.end());
      if (mine == standing.waiting.end() || theirs == its.waiting.end()) continue;
      const std::string& name = from_.membership->Find(other).name;
      return absl::StrCat("nodes wait for one another: ", name, " has pushed ", RoundText(*theirs), " and not ",
                          RoundText(*mine), ", ", member.name, " has pushed ", RoundText(*mine), " and not ",
                          RoundText(*theirs), kAdvice);
    }
    standings.emplace_back(member.id, std::move(standing));
  }
  return "";
}

void PushOrder::Learn(Pace::PerStep& known, uint64_t steps, uint64_t rounds) {
  if (known.steps != 0 && rounds == known.rounds) {
    known.is_sure = known.is_sure || steps >= kSureFactor * known.steps;
  } else {
    known = {steps, rounds, false};
  }
}

std::string PushOrder::ComparePace(NodeId node) {
  const NodeReport* const report = from_.reports->Find(node);
  if (report == nullptr || report->step == 0) return "";
  const auto [entry, is_new] = paces_.try_emplace(node);
  Pace& pace = entry->second;
  if (is_new || report->step < pace.first_step) {
    pace = Pace{report->step, {}, {}};
    for (const NodeReport::KeyProgress& row : report->progress) pace.first_pushed[row.key] = row.pushed;
    return "";
  }
  const uint64_t steps = report->step - pace.first_step;
  if (steps < kLeastSteps) return "";
  for (const NodeReport::KeyProgress& row : report->progress) {
    const auto first = pace.first_pushed.find(row.key);
    if (first == pace.first_pushed.end() || row.pushed < first->second || !from_.keys->Contains(row.key)) continue;
    const auto rounds = static_cast<double>(row.pushed.value() - first->second.value());
    Pace::PerStep& own = pace.rounds_per_step[row.key];
    Learn(own, steps, std::llround(rounds / static_cast<double>(steps)));
    if (!own.is_sure) continue;
    for (const auto& [other, its] : paces_) {
      const auto known = its.rounds_per_step.find(row.key);
      if (known == its.rounds_per_step.end() || !known->second.is_sure || known->second.rounds == own.rounds) continue;
      return absl::StrCat("key '", from_.keys->NameOf(row.key), "' is pushed ", own.rounds, " times in a step by ",
                          from_.membership->Find(node).name, " and ", known->second.rounds, " times by ",
                          from_.membership->Find(other).name, kAdvice);
    }
  }
  return "";
}

std::string PushOrder::OnReport(Timestamp now, Timestamp last_progress, NodeId node) {
  // Whoever reports next is compared with the same one: it is said once.
  if (pace_.empty()) pace_ = ComparePace(node);
  if (now - last_progress < kStandstill) {
    mutual_.clear();
  } else if (now >= next_look_) {
    next_look_ = now + kStandstill;
    const std::string found = FindMutualWait();
    // Reports come one after the other, so what they say together holds only when it stays.
    const bool is_new = !found.empty() && found != mutual_;
    mutual_ = found;
    if (is_new) return "";
  }
  leads_.OnReport(node);
  const std::string lead = leads_.text().empty() ? "" : absl::StrCat(leads_.text(), kAdvice);
  const std::string standstill = mutual_.empty() ? lead : mutual_;
  const std::string before = std::exchange(disorder_, pace_.empty() ? standstill : pace_);
  return disorder_ == before ? "" : disorder_;
}

}  // namespace banyan
