#include "scheduler/push_leads.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace banyan {

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

}  // namespace banyan
