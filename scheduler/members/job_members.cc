#include "scheduler/members/job_members.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

Membership::Options MembershipOptions(const OverlayConfig& overlay) {
  Membership::Options options;
  options.job = overlay.job;
  options.names = NodeNames(overlay);
  options.start_with = overlay.membership.start_with.has_value() ? static_cast<size_t>(*overlay.membership.start_with)
                                                                 : overlay.nodes.size();
  options.heartbeat = overlay.membership.heartbeat;
  options.lost_after = overlay.membership.lost_after;
  return options;
}

}  // namespace

JobMembers::JobMembers(const OverlayConfig* overlay, const JobState* job, StartId start, SchedulerContext* context)
    : overlay_(overlay), job_(job), start_(start), context_(context), membership_(MembershipOptions(*overlay)) {}

JoinVerdict JobMembers::Join(ConnectionId connection, const banyan::Join& join) {
  const bool is_first_join = !membership_.Remembers(join);
  JoinVerdict verdict = Decide(connection, join);
  if (verdict.kind != JoinVerdict::Kind::kAccepted) {
    const bool has_advice = verdict.kind == JoinVerdict::Kind::kRefused;
    Refuse(connection, has_advice ? verdict.reason : absl::StrCat(verdict.reason, "; restart the job"));
    return verdict;
  }
  const Member& member = membership_.Find(verdict.node);
  if (verdict.new_incarnation) {
    context_->Persist(NodeRecord{member.id, member.name, member.address, member.incarnation});
  }
  context_->LogInfo(
      absl::StrCat(member.name, verdict.new_incarnation ? " has joined from " : " is back from ", member.address));
  Welcome(connection, member, is_first_join);
  return verdict;
}

JoinVerdict JobMembers::Decide(ConnectionId connection, const banyan::Join& join) {
  JoinVerdict refused;
  if (job_->phase() == JobPhase::kEnded && !membership_.Knows(join)) {
    refused.reason = "the job has ended; restart the scheduler for a new one";
    return refused;
  }
  if (job_->phase() == JobPhase::kFailed && !membership_.Knows(join)) {
    refused.reason = absl::StrCat("job failed: ", job_->failure().message(), "; restart the job");
    return refused;
  }
  return membership_.Join(context_->now, connection, join);
}

void JobMembers::Refuse(ConnectionId connection, std::string reason) {
  context_->Reject(absl::StrCat("a join: ", reason));
  context_->outbox.Send(connection, JoinRefused{job_->term(), std::move(reason)});
}

void JobMembers::Welcome(ConnectionId connection, const Member& member, bool is_first_join) {
  context_->outbox.Send(
      connection, JoinAccepted{job_->term(), member.id, MakeJobConfig(*overlay_, member.id), start_, is_first_join});
  if (job_->phase() == JobPhase::kFailed) {
    context_->outbox.Send(connection, job_->MakeJobFailed());
  } else {
    context_->outbox.Send(connection, MakeUpdate());
  }
}

void JobMembers::AnswerHeartbeat(NodeId node, const Heartbeat& heartbeat) {
  context_->outbox.SendUrgent(*membership_.Find(node).connection, HeartbeatReply{job_->term(), heartbeat.sent_at});
}

void JobMembers::Start() {
  membership_.Start();
  update_due_.reset();
  Broadcast(MakeUpdate());
}

void JobMembers::Restore(const NodeRecord& record, bool is_spent) {
  membership_.Restore(record.node, record.address, record.incarnation, is_spent);
}

void JobMembers::ScheduleUpdate() {
  if (!update_due_.has_value()) update_due_ = context_->now + kMembershipBatch;
}

void JobMembers::SendDueUpdate() {
  if (!update_due_.has_value() || context_->now < *update_due_) return;
  update_due_.reset();
  if (job_->IsOver()) return;
  Broadcast(MakeUpdate());
  const std::vector<std::string> waiting_for = membership_.WaitingFor();
  if (!waiting_for.empty()) context_->LogInfo(absl::StrCat("waiting for ", absl::StrJoin(waiting_for, ", ")));
}

std::optional<std::string> JobMembers::TakeSilence() {
  const std::vector<NodeId> silent = membership_.TakeSilent(context_->now);
  if (silent.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const NodeId node : silent) {
    if (names.size() < kMaxWaitingForNames) names.push_back(NameOf(node));
  }
  return absl::StrCat("nothing heard from ", absl::StrJoin(names, ", "), " for ",
                      absl::FormatDuration(overlay_->membership.lost_after));
}

Timestamp JobMembers::NextDeadline() const { return std::min(membership_.NextCheck(), update_due_.value_or(kNever)); }

void JobMembers::SendTo(NodeId node, Message message) {
  const Member& member = membership_.Find(node);
  if (member.connection.has_value()) context_->outbox.Send(*member.connection, std::move(message));
}

void JobMembers::Broadcast(const Message& message) {
  for (const Member& member : membership_.all()) SendTo(member.id, message);
}

void JobMembers::Reject(NodeId node, const std::string& why) {
  context_->Reject(absl::StrCat("from ", NameOf(node), ": ", why));
}

MembershipUpdate JobMembers::MakeUpdate() const {
  MembershipUpdate update;
  update.term = job_->term();
  update.epoch = job_->epoch();
  update.joined = static_cast<uint32_t>(membership_.joined());
  update.expected = static_cast<uint32_t>(membership_.start_with());
  update.started = job_->IsRunning();
  update.waiting_for = membership_.WaitingFor();
  return update;
}

}  // namespace banyan
