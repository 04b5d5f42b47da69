#include "scheduler/members/job_members.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/scheduler_limits.h"
#include "topology/overlay/overlay_address.h"

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
  options.suspect_after = std::min(options.lost_after, std::max(kLeastSuspectAfter, 2 * overlay.membership.heartbeat));
  return options;
}

constexpr size_t kMostOrigins = 4096;

JoinVerdict RefusalFor(std::string reason) {
  JoinVerdict refusal;
  refusal.reason = std::move(reason);
  return refusal;
}

// `job` is over.
JoinVerdict JobIsOver(const JobState& job) {
  JoinVerdict refusal;
  const bool has_failed = job.phase() == JobPhase::kFailed;
  refusal.job_is_over = !has_failed || job.was_stopped();
  refusal.reason = absl::StrCat(
      has_failed ? job.DescribeEnd() : "the job is over",
      refusal.job_is_over ? "; `banyan scheduler --another` begins another one of its name" : "; restart the job");
  return refusal;
}

// The host of tcp://host:port, without brackets.
absl::string_view HostOf(absl::string_view address) {
  absl::ConsumePrefix(&address, "tcp://");
  address = address.substr(0, address.rfind(':'));
  absl::ConsumePrefix(&address, "[");
  absl::ConsumeSuffix(&address, "]");
  return address;
}

bool IsLoopback(absl::string_view host) {
  return absl::StartsWith(host, "127.") || host == "::1" || host == "localhost" || host == "ip6-localhost";
}

const NodeConfig* FindNode(const OverlayConfig& overlay, const std::string& name) {
  const auto found = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                  [&name](const NodeConfig& node) { return node.name == name; });
  return found == overlay.nodes.end() ? nullptr : &*found;
}

bool IsThere(const Member& member) {
  return member.state == MemberState::kJoined || member.state == MemberState::kSilent ||
         member.state == MemberState::kExpected;
}

}  // namespace

std::optional<WaitingJoins::Entry> WaitingJoins::Add(NodeId node, ConnectionId connection, const Join& join) {
  std::vector<Entry>& starts = entries_[node];
  const auto same = std::find_if(starts.begin(), starts.end(),
                                 [&join](const Entry& entry) { return entry.join.incarnation == join.incarnation; });
  if (same != starts.end()) {
    *same = Entry{connection, join};
    return std::nullopt;
  }
  starts.push_back({connection, join});
  if (starts.size() <= kMostWaitingStarts) return std::nullopt;
  Entry oldest = std::move(starts.front());
  starts.erase(starts.begin());
  return oldest;
}

std::optional<NodeId> WaitingJoins::Drop(ConnectionId connection) {
  for (auto& [node, starts] : entries_) {
    if (std::erase_if(starts, [&](const Entry& entry) { return entry.connection == connection; }) == 0) continue;
    const NodeId dropped = node;
    if (starts.empty()) entries_.erase(dropped);
    return dropped;
  }
  return std::nullopt;
}

std::optional<WaitingJoins::Entry> WaitingJoins::Take(NodeId node) {
  const auto found = entries_.find(node);
  if (found == entries_.end()) return std::nullopt;
  Entry entry = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) entries_.erase(found);
  return entry;
}

bool WaitingJoins::Has(ConnectionId connection) const {
  return std::any_of(entries_.begin(), entries_.end(), [connection](const auto& of_node) {
    return std::any_of(of_node.second.begin(), of_node.second.end(),
                       [connection](const Entry& entry) { return entry.connection == connection; });
  });
}

std::vector<ConnectionId> WaitingJoins::ConnectionsOf(NodeId node) const {
  std::vector<ConnectionId> connections;
  const auto found = entries_.find(node);
  if (found == entries_.end()) return connections;
  for (const Entry& entry : found->second) connections.push_back(entry.connection);
  return connections;
}

size_t WaitingJoins::size() const {
  size_t size = 0;
  for (const auto& [node, starts] : entries_) size += starts.size();
  return size;
}

std::vector<NodeId> WaitingJoins::Nodes() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, starts] : entries_) nodes.push_back(node);
  return nodes;
}

std::string AddressFault(const Join& join, const std::string& host, const Membership& members,
                         const OverlayConfig& overlay) {
  const NodeConfig* configured = FindNode(overlay, join.name);
  if (configured == nullptr) return "";
  if (const absl::Status status = CheckConnectAddress(join.address); !status.ok()) {
    return absl::StrCat(join.name, " says that others reach it at ", join.address, ": ", status.message(),
                        "; say with --advertise where it is");
  }
  const std::vector<std::string>& schedulers = overlay.scheduler.addresses;
  if (std::find(schedulers.begin(), schedulers.end(), join.address) != schedulers.end()) {
    return absl::StrCat(join.name, " says that others reach it at ", join.address,
                        ", which is the scheduler's; give the node a port of its own (--listen, --advertise)");
  }
  for (const Member& member : members.all()) {
    if (member.name == join.name || member.address != join.address || !IsThere(member)) continue;
    return absl::StrCat(join.name, " says that others reach it at ", join.address, ", and so does ", member.name,
                        "; give each node a port or a machine of its own (--listen, --advertise)");
  }
  const bool is_elsewhere = !host.empty() && !IsLoopback(host) && !IsLoopback(HostOf(configured->address));
  if (!is_elsewhere || !IsLoopback(HostOf(join.address))) return "";
  return absl::StrCat(join.name, " says that others reach it at ", join.address,
                      ", where each machine reaches only itself. It joins from ", host, ", and the overlay has it at ",
                      configured->address, ": start it with --listen ", configured->address,
                      ", or say with --advertise where it is");
}

JobMembers::JobMembers(const OverlayConfig* overlay, const JobState* job, StartId start, SchedulerContext* context)
    : overlay_(overlay), job_(job), start_(start), context_(context), membership_(MembershipOptions(*overlay)) {}

void JobMembers::NoteOrigin(const ConnectionAccepted& accepted) {
  origins_[accepted.connection] = {accepted.host, accepted.public_key};
  if (origins_.size() <= kMostOrigins + membership_.all().size() + waiting_.size()) return;
  const auto oldest = std::find_if(origins_.begin(), origins_.end(), [this](const auto& entry) {
    return !membership_.NodeOn(entry.first).has_value() && !waiting_.Has(entry.first);
  });
  context_->outbox.Close(oldest->first);
  origins_.erase(oldest);
}

JobMembers::Origin JobMembers::OriginOf(ConnectionId connection) const {
  const auto origin = origins_.find(connection);
  return origin == origins_.end() ? Origin() : origin->second;
}

void JobMembers::PublishKeys() {
  if (!roster_.Update(*overlay_, membership_)) return;
  for (const NodeId node : waiting_.Nodes()) {
    for (const ConnectionId connection : waiting_.ConnectionsOf(node)) {
      const std::string fault = KeyFault(connection, node);
      if (fault.empty()) continue;
      waiting_.Drop(connection);
      Refuse(connection, RefusalFor(fault));
    }
  }
  context_->outbox.Admit(roster_.All());
  Broadcast(AccessList{job_->term(), roster_.OfNodes()});
}

std::string JobMembers::KeyFault(ConnectionId connection, NodeId node) const {
  const std::string& listed = overlay_->nodes[node.value() - 1].public_key;
  const std::string came = OriginOf(connection).public_key;
  // A process without keys asks nobody for one.
  if (came.empty() || listed.empty() || came == listed) return "";
  return absl::StrCat("node '", NameOf(node), "' has another key by now, which a new start of it needs: ", listed);
}

JoinVerdict JobMembers::Join(ConnectionId connection, const banyan::Join& join) {
  const bool is_first_join = !membership_.Remembers(join);
  JoinVerdict verdict = Decide(connection, join);
  if (verdict.kind == JoinVerdict::Kind::kRefused) {
    Refuse(connection, verdict);
    return verdict;
  }
  if (verdict.kind != JoinVerdict::Kind::kAccepted) {
    LetWait(connection, join, verdict.node);
    return verdict;
  }
  const Member& member = membership_.Find(verdict.node);
  if (verdict.new_incarnation) PersistNode(member);
  context_->LogInfo(
      absl::StrCat(member.name, verdict.new_incarnation ? " has joined from " : " is back from ", member.address));
  Welcome(connection, member, is_first_join);
  return verdict;
}

void JobMembers::LetWait(ConnectionId connection, const banyan::Join& join, NodeId node) {
  const std::optional<WaitingJoins::Entry> oldest = waiting_.Add(node, connection, join);
  if (!oldest.has_value()) return;
  Refuse(oldest->connection, RefusalFor(absl::StrCat("more than ", kMostWaitingStarts, " nodes named '", join.name,
                                                     "' are joining, the last one from ", join.address,
                                                     "; give each node its own name and key")));
}

bool JobMembers::Admit(NodeId node, Epoch epoch, uint64_t barriers_before) {
  const std::optional<WaitingJoins::Entry> entry = waiting_.Take(node);
  if (!entry.has_value()) return false;
  membership_.Admit(context_->now, entry->connection, entry->join, OriginOf(entry->connection).public_key, epoch,
                    barriers_before);
  const Member& member = membership_.Find(node);
  PersistNode(member);
  context_->LogInfo(absl::StrCat(member.name, " has joined from ", member.address));
  return true;
}

void JobMembers::Welcome(NodeId node) {
  const Member& member = membership_.Find(node);
  if (member.connection.has_value()) Welcome(*member.connection, member, /*is_first_join=*/true);
}

void JobMembers::Expel(NodeId node) { membership_.Expel(node); }

void JobMembers::Leave(NodeId node, bool is_asked_for) {
  membership_.Leave(node, is_asked_for);
  if (roster_.HasFormer(node)) PublishKeys();
}

bool JobMembers::IsOperator(ConnectionId connection) const {
  const std::string key = OriginOf(connection).public_key;
  const std::vector<PersonConfig>& operators = overlay_->operators;
  return key.empty() || std::any_of(operators.begin(), operators.end(),
                                    [&key](const PersonConfig& person) { return person.public_key == key; });
}

void JobMembers::RefuseWaiting(NodeId node, std::string reason) {
  const JoinVerdict refusal = RefusalFor(std::move(reason));
  while (const std::optional<WaitingJoins::Entry> entry = waiting_.Take(node)) Refuse(entry->connection, refusal);
}

void JobMembers::RefuseContesters(NodeId node) {
  const Member& member = membership_.Find(node);
  while (const std::optional<WaitingJoins::Entry> entry = waiting_.Take(node)) {
    const std::string host = OriginOf(entry->connection).host;
    Refuse(entry->connection,
           RefusalFor(absl::StrCat("node '", member.name, "' has joined from ", member.address,
                                   " and is alive, and another node of that name comes from ", entry->join.address,
                                   host.empty() ? "" : absl::StrCat(" (host ", host, ")"),
                                   "; is its key in two places? Give each node its own name and key")));
  }
}

void JobMembers::RefuseAllWaiting() {
  for (const NodeId node : waiting_.Nodes()) {
    while (const std::optional<WaitingJoins::Entry> entry = waiting_.Take(node)) {
      Refuse(entry->connection, JobIsOver(*job_));
    }
  }
}

void JobMembers::End() {
  RefuseAllWaiting();
  for (const Member& member : membership_.all()) {
    if (!member.connection.has_value()) continue;
    const bool has_finished = member.has_left_for_good && !member.has_late_worker;
    if (has_finished) {
      SendJobOver(*member.connection);
    } else {
      Refuse(*member.connection, JobIsOver(*job_));
    }
  }
}

void JobMembers::Fail() {
  Broadcast(job_->MakeJobFailed());
  RefuseAllWaiting();
}

void JobMembers::SendJobOver(ConnectionId connection) {
  context_->outbox.Send(connection, JoinRefused{job_->term(), "all nodes have finished", false, true});
}

bool JobMembers::NoteWorkers(NodeId node, uint32_t attached) {
  membership_.NoteWorkers(node, attached > 0);
  return membership_.Find(node).has_late_worker && AnswerOver(node);
}

bool JobMembers::AnswerOver(NodeId node) {
  if (job_->phase() != JobPhase::kEnded) return false;
  const std::optional<ConnectionId> connection = membership_.Find(node).connection;
  if (connection.has_value()) Refuse(*connection, JobIsOver(*job_));
  return true;
}

bool JobMembers::AnswerFallen(ConnectionId connection) {
  if (!membership_.IsOfFallen(connection)) return false;
  JoinVerdict refusal;
  refusal.reason = "this start of the node has fallen out of the job; another start of it may join";
  refusal.fell_out = true;
  Refuse(connection, refusal);
  return true;
}

void JobMembers::Remove(NodeId node) {
  membership_.SetRemoved(node, true);
  context_->Persist(RemovedRecord{node, false});
  // Its connection may end with its key.
  SendTo(node, JoinRefused{job_->term(),
                           absl::StrCat("node '", NameOf(node),
                                        "' was removed from the job; `banyan reconfigure` lets it in again"),
                           false, false});
  RefuseWaiting(node, absl::StrCat("an operator has removed ", NameOf(node)));
  PublishKeys();
}

std::vector<std::string> JobMembers::LetRemovedIn() {
  std::vector<std::string> back;
  for (const Member& member : membership_.all()) {
    if (!member.is_removed) continue;
    back.push_back(member.name);
    membership_.SetRemoved(member.id, false);
    context_->Persist(RemovedRecord{member.id, true});
  }
  return back;
}

void JobMembers::PersistNode(const Member& member) {
  context_->Persist(NodeRecord{member.id, member.name, member.address, member.incarnation, member.public_key});
}

void JobMembers::AddNodes() {
  const std::vector<std::string> names = NodeNames(*overlay_);
  const size_t known = membership_.all().size();
  membership_.AddNodes(std::vector<std::string>(names.begin() + static_cast<std::ptrdiff_t>(known), names.end()));
}

std::optional<NodeId> JobMembers::Disconnect(ConnectionId connection) {
  waiting_.Drop(connection);
  origins_.erase(connection);
  return membership_.Disconnect(connection);
}

JoinVerdict JobMembers::Decide(ConnectionId connection, const banyan::Join& join) {
  JoinVerdict refused;
  if (job_->phase() == JobPhase::kEnded && !membership_.HasFinished(join)) return JobIsOver(*job_);
  if (job_->phase() == JobPhase::kFailed && !membership_.Knows(join)) return JobIsOver(*job_);
  const Origin origin = OriginOf(connection);
  if (!membership_.Knows(join)) {
    refused.reason = AddressFault(join, origin.host, membership_, *overlay_);
    const std::optional<NodeId> node = membership_.FindByName(join.name);
    if (refused.reason.empty() && node.has_value()) refused.reason = KeyFault(connection, *node);
    if (!refused.reason.empty()) return refused;
  }
  return membership_.Join(context_->now, connection, join, origin.public_key);
}

void JobMembers::Refuse(ConnectionId connection, const JoinVerdict& refusal) {
  context_->Reject(absl::StrCat(refusal.fell_out ? "from a start that fell out: " : "a join: ", refusal.reason));
  context_->outbox.Send(connection, JoinRefused{job_->term(), refusal.reason, refusal.fell_out, refusal.job_is_over});
}

void JobMembers::Welcome(ConnectionId connection, const Member& member, bool is_first_join) {
  context_->outbox.Send(
      connection, JoinAccepted{job_->term(), member.id, MakeJobConfig(*overlay_, member.id), start_, is_first_join});
  if (roster_.HasFormer(member.id)) PublishKeys();
  if (!roster_.OfNodes().empty()) context_->outbox.Send(connection, AccessList{job_->term(), roster_.OfNodes()});
  if (job_->phase() == JobPhase::kFailed) {
    context_->outbox.Send(connection, job_->MakeJobFailed());
  } else if (job_->phase() == JobPhase::kEnded) {
    SendJobOver(connection);
  } else {
    context_->outbox.Send(connection, MakeUpdate());
  }
}

void JobMembers::AnswerHeartbeat(NodeId node, const Heartbeat& heartbeat) {
  context_->outbox.SendUrgent(*membership_.Find(node).connection, HeartbeatReply{job_->term(), heartbeat.sent_at});
}

void JobMembers::SendUpdate() {
  update_due_.reset();
  Broadcast(MakeUpdate());
}

void JobMembers::Restore(const NodeRecord& record, bool is_spent) { membership_.Restore(record, is_spent); }

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

std::vector<NodeId> JobMembers::TakeSilent() {
  std::vector<NodeId> silent = membership_.TakeSilent(context_->now);
  std::sort(silent.begin(), silent.end());
  return silent;
}

std::string JobMembers::DescribeSilence(const std::vector<NodeId>& nodes) const {
  std::vector<std::string> names;
  for (const NodeId node : nodes) {
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
  for (const Member& member : membership_.all()) {
    if (!update.started || !member.is_member) continue;
    update.members.push_back({member.name, static_cast<uint32_t>(overlay_->nodes[member.id.value() - 1].workers)});
  }
  return update;
}

}  // namespace banyan
