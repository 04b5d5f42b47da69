#include "scheduler/members/membership.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

constexpr size_t kMostVersionBytes = 32;
// Starts of one node that have fallen out.
constexpr size_t kMostFallenKept = 64;

// tcp://host:port with a port in 1..65535.
bool IsTcpAddress(const std::string& address) {
  const std::string scheme = "tcp://";
  if (address.size() > kMaxAddressBytes || address.compare(0, scheme.size(), scheme) != 0) return false;
  const size_t colon = address.rfind(':');
  if (colon <= scheme.size() || colon == std::string::npos) return false;
  const std::string port = address.substr(colon + 1);
  const bool digits =
      !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  uint32_t number = 0;
  if (!digits || !absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) return false;
  return IsPrintable(address) && address.find(' ') == std::string::npos;
}

JoinVerdict Refuse(std::string reason) {
  JoinVerdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace

Membership::Membership(Options options) : options_(std::move(options)) {
  BANYAN_CHECK(options_.start_with >= 1 && options_.start_with <= options_.names.size());
  AddNodes(options_.names);
}

void Membership::AddNodes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Member member;
    member.id = NodeId(static_cast<uint32_t>(members_.size() + 1));
    member.name = name;
    ids_.emplace(name, member.id);
    members_.push_back(std::move(member));
  }
  is_watched_.resize(members_.size(), false);
  fallen_.resize(members_.size());
}

JoinVerdict Membership::Join(Timestamp now, ConnectionId connection, const banyan::Join& join,
                             const std::string& public_key) {
  if (std::string wrong = CheckForm(join); !wrong.empty()) return Refuse(std::move(wrong));
  Member& member = At(ids_.at(join.name));
  if (const auto owner = NodeOn(connection); owner.has_value() && *owner != member.id) {
    return Refuse(absl::StrCat("this connection is that of node '", Find(*owner).name, "'"));
  }
  if (member.is_spent && member.incarnation == join.incarnation) {
    return Refuse(absl::StrCat("node '", member.name,
                               "' was part of another job, which has ended or never begun; restart the node"));
  }
  if (member.is_removed) {
    return Refuse(
        absl::StrCat("node '", member.name, "' was removed from the job; let it in again with `banyan reconfigure`"));
  }
  if (started_ && !(member.is_member && member.incarnation == join.incarnation)) return DecideLate(now, join, member);
  const bool seen = member.state != MemberState::kAbsent;
  if (!seen || member.incarnation == join.incarnation) return Accept(now, connection, join, public_key, member);
  if (member.state == MemberState::kJoined && member.connection.has_value()) {
    JoinVerdict contested;
    contested.kind = JoinVerdict::Kind::kContests;
    contested.node = member.id;
    return contested;
  }
  return Accept(now, connection, join, public_key, member);
}

JoinVerdict Membership::DecideLate(Timestamp now, const banyan::Join& join, const Member& member) const {
  if (fallen_[member.id.value() - 1].count(join.incarnation) > 0) {
    JoinVerdict fallen = Refuse(
        absl::StrCat("this start of node '", member.name, "' has fallen out of the job; another start of it may join"));
    fallen.fell_out = true;
    return fallen;
  }
  JoinVerdict verdict;
  verdict.node = member.id;
  const bool is_heard = member.connection.has_value() && now < member.last_heard + options_.suspect_after;
  const bool is_there = member.is_member && member.state == MemberState::kJoined && is_heard;
  verdict.kind = is_there ? JoinVerdict::Kind::kContests : JoinVerdict::Kind::kWaits;
  return verdict;
}

bool Membership::Knows(const banyan::Join& join) const {
  const auto found = ids_.find(join.name);
  if (found == ids_.end()) return false;
  const Member& member = Find(found->second);
  return member.state != MemberState::kAbsent && member.incarnation == join.incarnation;
}

bool Membership::HasFinished(const banyan::Join& join) const {
  return Knows(join) && Find(ids_.at(join.name)).has_left_for_good;
}

bool Membership::Remembers(const banyan::Join& join) const {
  const auto found = ids_.find(join.name);
  return found != ids_.end() && Find(found->second).incarnation == join.incarnation;
}

bool Membership::Hear(Timestamp now, NodeId node) {
  Member& member = At(node);
  member.last_heard = now;
  if (member.state != MemberState::kSilent) return false;
  SetState(member, MemberState::kJoined);
  if (!is_watched_[node.value() - 1]) Watch(node, now + options_.lost_after);
  is_watched_[node.value() - 1] = true;
  return true;
}

std::optional<NodeId> Membership::Disconnect(ConnectionId connection) {
  fallen_connections_.erase(connection);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return std::nullopt;
  const NodeId node = found->second;
  At(node).connection.reset();
  connections_.erase(found);
  return node;
}

void Membership::Leave(NodeId node, bool is_asked_for) {
  Member& member = At(node);
  SetState(member, started_ ? MemberState::kLeft : MemberState::kAbsent);
  member.has_left_for_good = started_ && !is_asked_for;
}

void Membership::SetWorkerless(NodeId node, bool has_values) {
  At(node).is_workerless = true;
  At(node).has_values = has_values;
}

void Membership::NoteWorkers(NodeId node, bool has_workers) {
  Member& member = At(node);
  if (has_workers) member.is_workerless = false;
  member.has_had_workers = member.has_had_workers || has_workers;
  member.has_late_worker = has_workers && member.has_left_for_good;
}

void Membership::Start(Epoch epoch) {
  started_ = true;
  for (Member& member : members_) {
    member.is_member = member.state == MemberState::kJoined;
    member.joined_in = epoch;
    // It was here and takes no part: another start of it may join.
    if (!member.is_member && member.connection.has_value()) FallOut(member);
  }
}

void Membership::Expel(NodeId node) {
  Member& member = At(node);
  BANYAN_CHECK(member.is_member);
  FallOut(member);
}

void Membership::FallOut(Member& member) {
  std::set<Incarnation>& fallen = fallen_[member.id.value() - 1];
  // Forgetting one costs little: is_first_join tells such a start that it cannot go on.
  if (fallen.size() >= kMostFallenKept) fallen.clear();
  fallen.insert(member.incarnation);
  if (member.connection.has_value()) {
    fallen_connections_.insert(*member.connection);
    connections_.erase(*member.connection);
    member.connection.reset();
  }
  member.is_member = false;
  SetState(member, MemberState::kOut);
}

void Membership::Admit(Timestamp now, ConnectionId connection, const banyan::Join& join, const std::string& public_key,
                       Epoch epoch, uint64_t barriers_before) {
  Member& member = At(ids_.at(join.name));
  BANYAN_CHECK(started_ && !member.is_member);
  member.has_left_for_good = false;
  member.is_workerless = false;
  member.has_late_worker = false;
  member.has_had_workers = true;
  member.address = join.address;
  SetState(member, MemberState::kAbsent);
  Accept(now, connection, join, public_key, member);
  member.is_member = true;
  member.joined_in = epoch;
  member.barriers_before = barriers_before;
}

void Membership::Restore(const NodeRecord& record, bool is_spent) {
  Member& member = At(record.node);
  member.is_spent = is_spent;
  member.address = record.address;
  member.incarnation = record.incarnation;
  member.public_key = record.public_key;
}

void Membership::RestoreStarted(Timestamp now, const std::vector<EpochMember>& members) {
  started_ = true;
  for (const EpochMember& restored : members) {
    Member& member = At(restored.node);
    member.is_member = true;
    member.incarnation = restored.incarnation;
    member.joined_in = restored.joined_in;
    member.barriers_before = restored.barriers_before;
    member.has_had_workers = true;
    member.last_heard = now;
    member.has_left_for_good = restored.departed == Departed::kForGood;
    SetState(member, restored.departed == Departed::kNo ? MemberState::kExpected : MemberState::kLeft);
    if (member.state == MemberState::kLeft) continue;
    Watch(restored.node, now + options_.lost_after);
    is_watched_[restored.node.value() - 1] = true;
  }
  for (const Member& member : members_) {
    const bool was_there = !member.is_member && member.incarnation != Incarnation();
    if (was_there) fallen_[member.id.value() - 1].insert(member.incarnation);
  }
}

std::vector<NodeId> Membership::TakeSilent(Timestamp now) {
  std::vector<NodeId> silent;
  const bool is_late = !checks_.empty() && now - checks_.begin()->first > options_.heartbeat;
  while (!checks_.empty() && checks_.begin()->first <= now) {
    const NodeId node = checks_.begin()->second;
    checks_.erase(checks_.begin());
    Member& member = At(node);
    const bool is_awaited = member.state == MemberState::kJoined || member.state == MemberState::kExpected;
    if (!is_awaited) {
      is_watched_[node.value() - 1] = false;
    } else if (member.last_heard + options_.lost_after > now) {
      Watch(node, member.last_heard + options_.lost_after);
    } else if (is_late) {
      Watch(node, now + options_.heartbeat);
    } else {
      is_watched_[node.value() - 1] = false;
      SetState(member, MemberState::kSilent);
      silent.push_back(node);
    }
  }
  return silent;
}

Timestamp Membership::NextCheck() const { return checks_.empty() ? kNever : checks_.begin()->first; }

std::optional<NodeId> Membership::NodeOn(ConnectionId connection) const {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return std::nullopt;
  return found->second;
}

std::optional<NodeId> Membership::FindByName(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<EpochMember> Membership::EpochMembers() const {
  std::vector<EpochMember> members;
  for (const Member& member : members_) {
    if (!member.is_member) continue;
    members.push_back({member.id, member.incarnation, member.joined_in, member.barriers_before});
  }
  return members;
}

std::vector<NodeId> Membership::Members() const {
  std::vector<NodeId> nodes;
  for (const Member& member : members_) {
    if (IsIn(member)) nodes.push_back(member.id);
  }
  return nodes;
}

bool Membership::AllLeft(absl::FunctionRef<bool(const Member&)> is_helper) const {
  bool has_finished = false;
  for (const Member& member : members_) {
    if (!member.is_member) continue;
    if (!member.has_left_for_good && !is_helper(member)) return false;
    has_finished = has_finished || member.has_left_for_good;
  }
  return has_finished;
}

std::vector<std::string> Membership::WaitingFor() const {
  std::vector<std::string> names;
  const bool starts_later = needs_more_ || joined_ < options_.start_with;
  for (const Member& member : members_) {
    if (names.size() == kMaxWaitingForNames) break;
    const bool is_here = member.is_member && !member.is_removed && member.state != MemberState::kLeft;
    const bool is_wanted = started_ ? is_here : starts_later;
    if (is_wanted && member.state != MemberState::kJoined) names.push_back(member.name);
  }
  return names;
}

std::string Membership::CheckForm(const banyan::Join& join) const {
  if (join.protocol_version != kProtocolVersion) {
    return absl::StrCat("protocol version ", kProtocolVersion, " expected, ", join.protocol_version,
                        " came; install the same release on all machines");
  }
  if (!join.job.empty() && join.job != options_.job) {
    return absl::StrCat("this scheduler runs job '", options_.job, "', and the node wants '",
                        PrintableText(join.job, kMaxKeyNameBytes), "'");
  }
  if (ids_.find(join.name) == ids_.end()) {
    return absl::StrCat("the overlay of job '", options_.job, "' has no node named '",
                        PrintableText(join.name, kMaxKeyNameBytes), "'; add it to `nodes` or correct the name");
  }
  if (!IsTcpAddress(join.address)) {
    return absl::StrCat("an address tcp://host:port expected, '", PrintableText(join.address, kMaxAddressBytes),
                        "' came");
  }
  return "";
}

JoinVerdict Membership::Accept(Timestamp now, ConnectionId connection, const banyan::Join& join,
                               const std::string& public_key, Member& member) {
  JoinVerdict verdict;
  verdict.kind = JoinVerdict::Kind::kAccepted;
  verdict.node = member.id;
  verdict.new_incarnation = member.incarnation != join.incarnation || (!started_ && member.address != join.address);
  if (member.connection.has_value()) connections_.erase(*member.connection);
  connections_[connection] = member.id;
  member.connection = connection;
  if (member.incarnation != join.incarnation) member.is_workerless = false;
  member.incarnation = join.incarnation;
  member.public_key = public_key;
  member.version = PrintableText(join.version, kMostVersionBytes);
  member.is_spent = false;
  // Peers hold the address that the policy named, so that a running member keeps it.
  if (!started_) member.address = join.address;
  member.last_heard = now;
  if (member.state == MemberState::kLeft) return verdict;
  SetState(member, MemberState::kJoined);
  if (!is_watched_[member.id.value() - 1]) Watch(member.id, now + options_.lost_after);
  is_watched_[member.id.value() - 1] = true;
  return verdict;
}

void Membership::SetState(Member& member, MemberState state) {
  if (member.state == MemberState::kJoined) --joined_;
  if (state == MemberState::kJoined) ++joined_;
  member.state = state;
}

}  // namespace banyan
