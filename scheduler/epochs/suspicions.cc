#include "scheduler/epochs/suspicions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace banyan {

void Suspicions::NoteDown(Timestamp now, NodeId node) { down_.try_emplace(node, now); }

void Suspicions::NoteContest(Timestamp now, NodeId node) { contests_[node] = now; }

void Suspicions::NoteComplaint(Timestamp now, NodeId from, NodeId about, std::string what) {
  complaints_.try_emplace(std::minmax(from, about), Complaint{now, now + members_->suspect_after(), std::move(what)});
}

Suspicions::Findings Suspicions::Take(Timestamp now) {
  Findings findings;
  TakeDown(now, findings);
  TakeContests(now, findings);
  TakeComplaints(now, findings);
  return findings;
}

Timestamp Suspicions::NextDeadline() const {
  Timestamp next = kNever;
  for (const auto& [node, since] : down_) next = std::min(next, since + members_->suspect_after());
  for (const auto& [node, since] : contests_) {
    // Once the member is heard there is nothing to wait for.
    const Timestamp heard = members_->Find(node).last_heard;
    next = std::min(next, heard > since ? heard : heard + members_->suspect_after());
  }
  for (const auto& [ends, complaint] : complaints_) next = std::min(next, complaint.due);
  return next;
}

bool Suspicions::IsHere(NodeId node) const {
  const Member& member = members_->Find(node);
  if (!members_->started()) return member.state == MemberState::kJoined;
  return member.is_member && member.state != MemberState::kLeft;
}

void Suspicions::TakeDown(Timestamp now, Findings& findings) {
  std::erase_if(down_, [&](const auto& entry) {
    const auto& [node, since] = entry;
    if (!IsHere(node) || members_->Find(node).connection.has_value()) return true;
    if (now < since + members_->suspect_after()) return false;
    findings.fallen[node] = absl::StrCat("the connection of ", members_->Find(node).name, " went down");
    return true;
  });
}

void Suspicions::TakeContests(Timestamp now, Findings& findings) {
  std::erase_if(contests_, [&](const auto& entry) {
    const auto& [node, since] = entry;
    const Member& member = members_->Find(node);
    if (!IsHere(node)) return true;
    if (member.last_heard > since) {
      findings.defended.push_back(node);
      return true;
    }
    if (member.connection.has_value() && now < member.last_heard + members_->suspect_after()) return false;
    findings.fallen[node] = absl::StrCat(member.name, " has been restarted");
    return true;
  });
}

void Suspicions::TakeComplaints(Timestamp now, Findings& findings) {
  for (auto next = complaints_.begin(); next != complaints_.end();) {
    const auto current = next++;
    Complaint& complaint = current->second;
    if (now < complaint.due) continue;
    const auto [a, b] = current->first;
    const auto is_heard = [&](NodeId node) {
      const Member& member = members_->Find(node);
      return member.connection.has_value() && member.last_heard > complaint.since;
    };
    if (!IsHere(a) || !IsHere(b)) {
      complaints_.erase(current);
    } else if (is_heard(a) && is_heard(b)) {
      findings.cuts.emplace(current->first, std::move(complaint.what));
      complaints_.erase(current);
    } else {
      complaint.due = now + members_->suspect_after();
    }
  }
}

}  // namespace banyan
