#include "scheduler/rounds/lease_cutter.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/message_parts.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {

void LeaseCutter::Review() {
  const JobRounds::Rule now = rounds_->rule();
  if (rounds_->is_frozen() || now == settled_) return;
  if (rounds_->has_departed()) {
    if (rounds_->cut().has_value()) Finish(CutRecord{*rounds_->cut(), {}});
    return;
  }
  if (rounds_->cut().has_value() && now == rule_) return;
  if (rounds_->IsWorthCutting()) return Begin();
  settled_ = now;
}

void LeaseCutter::Begin() {
  rounds_->BeginCut();
  rule_ = rounds_->rule();
  cut_ = cut_.Next();
  began_at_ = context_->now;
  begun_.clear();
  awaited_.clear();
  for (const NodeId node : members_->table().Members()) awaited_.insert(node);
  members_->Broadcast(Sought());
}

void LeaseCutter::OnRejoined(NodeId node) {
  if (rounds_->cut().has_value() && awaited_.contains(node)) members_->SendTo(node, Sought());
}

bool LeaseCutter::OnBound(NodeId node, const CutBound& bound) {
  // Whatever is of the past has been answered for by an epoch or another cut.
  const CutSought asked = {bound.term, bound.epoch, bound.cut};
  if (!rounds_->cut().has_value() || asked != Sought() || awaited_.erase(node) == 0) return false;
  for (const CutBound::Entry& entry : bound.rounds) {
    Round& begun = begun_[entry.key];
    begun = std::max(begun, entry.round);
  }
  if (!awaited_.empty()) return false;
  const CutRecord cut = rounds_->PlanCut(begun_);
  settled_ = rule_;
  Finish(cut);
  context_->LogInfo(absl::StrCat("policy ", cut.policy.value(), " governs the next rounds of ",
                                 CountOf(cut.rounds.size(), "key"), " after ",
                                 absl::FormatDuration(absl::Trunc(context_->now - began_at_, absl::Milliseconds(1)))));
  return true;
}

void LeaseCutter::Finish(const CutRecord& cut) {
  awaited_.clear();
  begun_.clear();
  if (!cut.rounds.empty()) context_->Persist(cut);
  SendInParts(rounds_->FinishCut(cut), [this](std::vector<PolicyAnswer::Binding> part) {
    members_->Broadcast(PolicyAnswer{job_->term(), job_->epoch(), std::move(part)});
  });
}

std::string LeaseCutter::WaitsFor() const {
  if (!rounds_->cut().has_value()) return "";
  std::vector<std::string> names;
  for (const NodeId node : awaited_) {
    if (names.size() < kMaxWaitingForNames) names.push_back(members_->NameOf(node));
  }
  return absl::StrCat("policy ", rounds_->cut()->value(), " governs the next rounds, and ", absl::StrJoin(names, ", "),
                      " has not said yet which these are");
}

}  // namespace banyan
