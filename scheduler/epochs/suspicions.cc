#include "scheduler/epochs/suspicions.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace banyan {

void Suspicions::NoteSilent(Timestamp now, NodeId node, std::string what) {
  missing_.try_emplace(node, Missing{now, std::move(what)});
}

void Suspicions::NoteDown(Timestamp now, NodeId node) {
  const std::string& name = members_->Find(node).name;
  missing_.try_emplace(
      node, Missing{now + members_->suspect_after(), absl::StrCat("the connection of ", name, " went down")});
}

void Suspicions::NoteContest(Timestamp now, NodeId node) { contests_[node] = now; }

void Suspicions::NoteComplaint(Timestamp now, NodeId from, NodeId about, std::string what) {
  complaints_.try_emplace(std::minmax(from, about), Complaint{now, now + members_->suspect_after(), std::move(what)});
}

Suspicions::Findings Suspicions::Take(Timestamp now) {
  Findings findings;
  TakeMissing(now, findings);
  TakeContests(now, findings);
  TakeComplaints(now, findings);
  return findings;
}

Timestamp Suspicions::NextDeadline() const {
  Timestamp next = kNever;
  if (!deaf_since_.has_value()) {
    for (const auto& [node, missing] : missing_) next = std::min(next, std::max(missing.due, judged_from_));
  } else if (const Timestamp heard = LastHeard(); heard >= *deaf_since_) {
    next = heard;
  }
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

bool Suspicions::HearsNobody(Timestamp now) const {
  const std::vector<Member>& all = members_->all();
  if (std::any_of(all.begin(), all.end(), [](const Member& member) { return member.has_left_for_good; })) return false;
  return now >= LastHeard() + members_->quiet_after();
}

Timestamp Suspicions::LastHeard() const {
  Timestamp last;
  for (const Member& member : members_->all()) {
    if (IsHere(member.id) && member.connection.has_value()) last = std::max(last, member.last_heard);
  }
  return last;
}

Timestamp Suspicions::JudgedFrom(Timestamp now) const {
  return HearsNobody(now) ? now + members_->lost_after() : judged_from_;
}

void Suspicions::TakeMissing(Timestamp now, Findings& findings) {
  std::erase_if(missing_, [&](const auto& entry) {
    const Member& member = members_->Find(entry.first);
    const bool is_back = member.connection.has_value() && member.state != MemberState::kSilent;
    return is_back || !IsHere(entry.first);
  });
  const auto is_due = [&](const auto& entry) { return now >= std::max(entry.second.due, judged_from_); };
  if (HearsNobody(now)) {
    const bool is_missed = std::any_of(missing_.begin(), missing_.end(), is_due);
    if (is_missed || deaf_since_.has_value()) deaf_since_ = now;
    return;
  }
  if (std::exchange(deaf_since_, std::nullopt).has_value()) judged_from_ = now + members_->lost_after();
  std::erase_if(missing_, [&](const auto& entry) {
    if (!is_due(entry)) return false;
    findings.fallen[entry.first] = entry.second.what;
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
  const auto is_heard = [this](NodeId node, const Complaint& complaint) {
    const Member& member = members_->Find(node);
    return member.connection.has_value() && member.last_heard > complaint.since;
  };
  std::set<NodeId> ends;  // of links that are cut
  for (auto& [link, complaint] : complaints_) {
    if (now < complaint.due || !IsHere(link.first) || !IsHere(link.second)) continue;
    if (is_heard(link.first, complaint) && is_heard(link.second, complaint)) {
      ends.insert({link.first, link.second});
    } else {
      complaint.due = now + members_->suspect_after();
    }
  }
  std::erase_if(complaints_, [&](auto& entry) {
    auto& [link, complaint] = entry;
    if (!IsHere(link.first) || !IsHere(link.second)) return now >= complaint.due;
    const bool is_early = now < complaint.since + members_->suspect_after() / 2;
    if (is_early || !(ends.contains(link.first) || ends.contains(link.second))) return false;
    if (!is_heard(link.first, complaint) || !is_heard(link.second, complaint)) return false;
    findings.cuts.emplace(link, std::move(complaint.what));
    return true;
  });
}

}  // namespace banyan
