#include "scheduler/push_order.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr char kAdvice[] = "; all nodes must push the same keys in the same order, equally often in each step";

bool IsPushing(const Member& member) { return member.is_member && member.state != MemberState::kLeft; }

}  // namespace

bool PushLeads::IsHere(NodeId node) const {
  const Member& member = membership_->Find(node);
  const NodeReport* const report = reports_->Find(node);
  return member.is_member && member.state != MemberState::kLeft && report != nullptr && report->workers_attached > 0;
}

std::string PushLeads::Compare(NodeId node, const NodeReport::Lag& row) const {
  size_t behind = 0;
  size_t others = 0;
  NodeId one;
  bool has_one_changed = false;
  for (const auto& [other, its] : rows_.at(row.key)) {
    if (other == node || !IsHere(other)) continue;
    const uint64_t first = std::max(row.since.value(), its.since.value());
    const uint64_t last = std::min(row.pushed.value(), its.pushed.value());
    if (last < first + kLeastRounds) continue;
    ++others;
    if (its.lag >= row.lag) continue;
    if (++behind == 1) one = other;
    has_one_changed = its.since > row.since;
  }
  // Of two it is the one that pushes otherwise than before. Who has not told yet may push as this one does.
  if (2 * behind <= std::max(others, OthersHere(node)) || (others == 1 && has_one_changed)) return "";
  return absl::StrCat(
      "worker ", row.worker.value(), " of ", membership_->Find(node).name, " runs ahead with key '",
      keys_->NameOf(row.key), "': it pushes round ", row.since.value(), " and later ones in the step in which ",
      membership_->Find(one).name, " pushes round ", row.since.value() - 1,
      "; it has pushed the key twice in a step, left out another one, or begun between two keys of a step");
}

size_t PushLeads::OthersHere(NodeId node) const {
  size_t others = 0;
  for (uint32_t other = 1; other <= membership_->all().size(); ++other) {
    others += NodeId(other) != node && IsHere(NodeId(other)) ? 1 : 0;
  }
  return others;
}

void PushLeads::OnReport(NodeId node) {
  const NodeReport* const report = reports_->Find(node);
  if (report == nullptr) return;
  for (const NodeReport::Lag& row : report->lags) {
    if (!keys_->Contains(row.key) || row.since == Round(0)) continue;
    rows_[row.key].insert_or_assign(node, row);
    LookAt(row.key);
  }
}

void PushLeads::LookAt(KeyId key) {
  if (!text_.empty() && leader_.second != key) return;
  for (const auto& [node, row] : rows_.at(key)) {
    const bool is_leader = leader_ == std::pair(node, key);
    if (!text_.empty() && !is_leader) continue;
    const std::string found = IsHere(node) ? Compare(node, row) : "";
    // It stays as it was said first.
    if (text_.empty() || found.empty()) text_ = found;
    leader_ = text_.empty() ? std::pair(NodeId(), KeyId()) : std::pair(node, key);
  }
}

void PushLeads::Forget(NodeId node) {
  for (auto& [key, rows] : rows_) rows.erase(node);
  if (leader_.first == node) text_.clear();
}

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
