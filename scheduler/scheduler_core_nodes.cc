// The messages of nodes that have joined.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

// Before the start nobody knows whom a barrier waits for.
constexpr size_t kNobodyReleases = std::numeric_limits<size_t>::max();

}  // namespace

template <typename Other>
void SchedulerCore::OnNode(NodeId node, const Other&) {
  Reject(absl::StrCat("from ", NameOf(node), ": a kind of message that no node sends to a scheduler"));
}

void SchedulerCore::OnNodeMessage(NodeId node, const Message& message) {
  std::visit([this, node](const auto& received) { OnNode(node, received); }, message);
}

void SchedulerCore::OnNode(NodeId node, const Heartbeat& message) {
  const Member& member = membership_.Find(node);
  outbox_.SendUrgent(*member.connection, HeartbeatReply{term_, message.sent_at});
}

void SchedulerCore::OnNode(NodeId node, const RegisterKeys& message) {
  if (phase_ == Phase::kJoining || phase_ == Phase::kPlanning) {
    for (const RegisterKeys::Key& key : message.keys) {
      if (!waiting_keys_.Add(node, key))
        RefuseKey(node, key, absl::StrCat(kMaxWaitingKeys, " keys wait for the start already"));
    }
  } else if (NeedsRunning(node, "keys")) {
    RegisterAll(node, message.keys);
  }
}

void SchedulerCore::RegisterAll(NodeId node, const std::vector<RegisterKeys::Key>& keys) {
  const KeyId first_new = KeyId(static_cast<uint32_t>(keys_.version().value())).Next();
  const NodeId source = policies_.Current()->members.front();
  KeysRecord added = {first_new, {}};
  KeyId first_known = first_new;
  KeyId last_known;
  for (const RegisterKeys::Key& key : keys) {
    const KeyTableVersion before = keys_.version();
    const absl::StatusOr<KeyId> id = keys_.Register(key.name, key.elements);
    if (!id.ok()) {
      RefuseKey(node, key, std::string(id.status().message()));
    } else if (keys_.version() > before) {
      added.keys.push_back(key);
    } else if (*id < first_new) {
      first_known = std::min(first_known, *id);
      last_known = std::max(last_known, *id);
    }
  }
  if (last_known >= first_known) {
    SendTo(node, KeysAssigned{term_, keys_.version(), keys_.Rows(first_known, last_known, source)});
  }
  if (added.keys.empty()) return;
  const KeyId last_new(static_cast<uint32_t>(keys_.version().value()));
  Persist(added);
  formulation_.NoteModel(now_);
  trial_.Forget();
  Broadcast(KeysAssigned{term_, keys_.version(), keys_.Rows(first_new, last_new, source)});
}

void SchedulerCore::RefuseKey(NodeId node, const RegisterKeys::Key& key, const std::string& reason) {
  Reject(absl::StrCat("from ", NameOf(node), ": ", reason));
  SendTo(node, KeyRefused{term_, key.name, reason});
}

void SchedulerCore::OnNode(NodeId node, const PolicyRequest& message) {
  if (NeedsRunning(node, "a policy")) Apply(node, rounds_.Request(node, message));
}

void SchedulerCore::OnNode(NodeId node, const RoundsClosed& message) {
  if (NeedsRunning(node, "the end of rounds")) Apply(node, rounds_.Report(node, message));
}

void SchedulerCore::Apply(NodeId node, RoundOutcome outcome) {
  for (const std::string& what : outcome.rejections) Reject(absl::StrCat("from ", NameOf(node), ": ", what));
  if (!outcome.failure.ok()) return Fail(outcome.failure.code(), std::string(outcome.failure.message()));
  if (!outcome.closed.empty()) {
    // Whoever hears of it does not report it again, so a restarted scheduler must know it too.
    Persist(ClosedRecord{outcome.closed});
    Broadcast(ClosedEverywhere{term_, std::move(outcome.closed)});
    RetirePolicies();
  }
  if (!outcome.closed_before.empty()) SendTo(node, ClosedEverywhere{term_, std::move(outcome.closed_before)});
  if (!outcome.new_bindings.empty()) Persist(BindingsRecord{std::move(outcome.new_bindings)});
  for (RoundOutcome::Answer& answer : outcome.answers) {
    SendTo(answer.node, PolicyAnswer{term_, epoch_, std::move(answer.bindings)});
  }
}

void SchedulerCore::OnNode(NodeId node, const BarrierEntered& message) {
  const bool is_early = phase_ == Phase::kJoining || phase_ == Phase::kPlanning;
  if (!is_early && !NeedsRunning(node, "a barrier")) return;
  const size_t member_count = is_early ? kNobodyReleases : policies_.Current()->members.size();
  if (!departed_.empty() && message.barrier >= barrier_.next()) {
    return FailOfDeparture("it enters no barrier any more");
  }
  switch (barrier_.Enter(node, message.barrier, member_count)) {
    case Barrier::Outcome::kWaiting:
      return;
    case Barrier::Outcome::kReleased:
      Persist(BarrierRecord{message.barrier});
      return Broadcast(BarrierReleased{term_, message.barrier});
    case Barrier::Outcome::kWasBefore:
      return SendTo(node, BarrierReleased{term_, message.barrier});
    case Barrier::Outcome::kTooFar:
      return Reject(absl::StrCat("from ", NameOf(node), ": barrier ", message.barrier, ", while barrier ",
                                 barrier_.next(), " is the next"));
  }
}

void SchedulerCore::OnNode(NodeId node, const PeerLost& message) {
  if (phase_ != Phase::kRunning) return;
  if (!membership_.Contains(message.peer) || !membership_.Find(message.peer).is_member || message.peer == node) {
    return Reject(
        absl::StrCat("from ", NameOf(node), ": the loss of node ", message.peer.value(), ", which is no peer of it"));
  }
  // Whoever has left may fall silent: CheckDeparture decides whether that matters.
  if (membership_.Find(message.peer).state == MemberState::kLeft) return;
  Fail(absl::StatusCode::kUnavailable, absl::StrCat(NameOf(node), " has lost its neighbour ", NameOf(message.peer),
                                                    ": ", PrintableText(message.reason, kMaxReasonBytes)));
}

void SchedulerCore::OnNode(NodeId node, const WorkerLost& message) {
  if (!HasBegun()) return;
  const std::string what = absl::StrCat("worker ", message.worker.value(), " of ", NameOf(node),
                                        " is lost: ", PrintableText(message.reason, kMaxReasonBytes));
  if (phase_ == Phase::kRunning) return Fail(absl::StatusCode::kUnavailable, what);
  outbox_.Log(LogLevel::kWarning, absl::StrCat(what, "; the start waits until ", NameOf(node), " is restarted"));
  LeaveBeforeStart(node);
}

void SchedulerCore::LeaveBeforeStart(NodeId node) {
  membership_.Leave(node);
  ForgetRequests(node);
  MembershipChanged();
}

void SchedulerCore::ForgetRequests(NodeId node) {
  waiting_keys_.Drop(node);
  barrier_.Drop(node);
}

void SchedulerCore::OnNode(NodeId node, const Leave& message) {
  if (membership_.Find(node).state == MemberState::kLeft) return;  // said again after a reconnect
  const std::string why =
      absl::StrCat(NameOf(node), " has left (", PrintableText(message.reason, kMaxReasonBytes), ")");
  LogInfo(why);
  if (phase_ == Phase::kJoining || phase_ == Phase::kPlanning) return LeaveBeforeStart(node);
  membership_.Leave(node);
  if (phase_ != Phase::kRunning) return;
  if (departed_.empty()) {
    departed_ = why;
    departure_is_asked_for_ = message.asked_for;
    departure_due_ = now_ + overlay_.membership.lost_after;
    rounds_.SetDeparted();
  }
  if (membership_.AllLeft()) End();
}

void SchedulerCore::OnNode(NodeId node, const NodeReport& message) {
  const absl::Status status = reports_.Accept(node, message, membership_.all().size(), keys_.version().value());
  if (!status.ok()) return Reject(absl::StrCat("from ", NameOf(node), ": ", status.message()));
  CheckDeparture(node);
  round_times_.Accept(now_, node, message.last_sync, keys_.ElementsOfAll());
  if (!overlay_.awareness.enabled) return;
  if (absl::Status measured = links_.Accept(now_, node, message.links); !measured.ok()) {
    Reject(absl::StrCat("from ", NameOf(node), ": ", measured.message()));
  }
  ReplanIfWanted();
}

void SchedulerCore::CheckDeparture(NodeId node) {
  const bool is_over = phase_ != Phase::kRunning || membership_.Find(node).state == MemberState::kLeft;
  if (departed_.empty() || is_over) return;
  const bool is_due = !departure_due_.has_value();
  if (is_due && barrier_.entered().count(node) > 0) return FailOfDeparture("it enters no barrier any more");
  const NodeReport* report = reports_.Find(node);
  if (report == nullptr) return;
  for (const NodeReport::KeyProgress& row : report->progress) {
    if (!keys_.Contains(row.key) || row.pushed < rounds_.FirstOpen(row.key)) continue;
    // Without a policy the round has not even begun.
    if (!is_due && rounds_.IsBound(row.key, row.pushed)) continue;
    return FailOfDeparture(
        absl::StrCat(rounds_.Describe(row.key, row.pushed), ", which ", NameOf(node), " has pushed, cannot run"));
  }
}

void SchedulerCore::FailOfDeparture(const std::string& what) {
  Fail(absl::StatusCode::kUnavailable, absl::StrCat(departed_, ": ", what), departure_is_asked_for_);
}

bool SchedulerCore::NeedsRunning(NodeId node, const char* what) {
  if (phase_ == Phase::kRunning) return true;
  if (phase_ == Phase::kFailed) {
    outbox_.SendUrgent(*membership_.Find(node).connection, MakeJobFailed());
  } else {
    Reject(absl::StrCat("from ", NameOf(node), ": a message about ", what, " while the job does not run"));
  }
  return false;
}

}  // namespace banyan
