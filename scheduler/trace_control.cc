#include "scheduler/trace_control.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/scheduler_messages.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {

void TraceControl::On(ConnectionId connection, const TraceRounds& order) {
  const auto refuse = [&](const std::string& why) { context_->outbox.Send(connection, OperatorReply{false, why}); };
  if (!job_->IsRunning()) return refuse("no round is there to be traced: the job does not run");
  if (running_.has_value()) {
    // A node that still sends has its own time, beyond that of the notes.
    const Timestamp end = std::max(running_->notes_until + kAnswerWithin, running_->deadline);
    const absl::Duration left = end - context_->now;
    return refuse(absl::StrCat("another trace is under way; it ends within ",
                               absl::FormatDuration(absl::Ceil(left, absl::Seconds(1)))));
  }
  last_trace_ = last_trace_.Next();
  Running& trace = running_.emplace();
  trace.id = last_trace_;
  trace.asker = connection;
  trace.rounds = order.rounds;
  trace.notes_until = context_->now + order.patience;
  trace.deadline = context_->now + kAnswerWithin;
  for (const Member& member : members_->table().all()) {
    if (!member.is_member) continue;
    if (member.connection.has_value()) {
      trace.nodes[member.id];
    } else {
      trace.missing.push_back({member.name, "it is not connected"});
    }
  }
  trace.share = std::min(kMostNodeRecords, kMostRecords / static_cast<uint32_t>(trace.nodes.size() + 1));
  for (const auto& [node, of_node] : trace.nodes) Order(node, TraceOrder::Step::kNote);
  context_->LogInfo(absl::StrCat("traces the next ", CountOf(order.rounds, "round"), " of ",
                                 CountOf(trace.nodes.size(), "node"), ", as `banyan trace` asks"));
  EndIfDone();
}

void TraceControl::Order(NodeId node, TraceOrder::Step step) {
  TraceOrder order{job_->term(), running_->id, step, running_->first, running_->last, running_->share};
  if (step == TraceOrder::Step::kNote) order.last = Round(running_->rounds);
  members_->SendTo(node, order);
}

TraceControl::NodeTrace* TraceControl::Find(NodeId node, TraceId trace) {
  if (running_.has_value() && running_->id == trace) {
    const auto found = running_->nodes.find(node);
    if (found != running_->nodes.end()) return &found->second;
  }
  // It may have been given up while this was on its way.
  if (trace > last_trace_) members_->Reject(node, "records of a trace that no command has asked for");
  return nullptr;
}

void TraceControl::On(NodeId node, const TraceReady& ready) {
  NodeTrace* const of_node = Find(node, ready.trace);
  if (of_node == nullptr || running_->phase != Phase::kBegins) return;
  if (!ready.refusal.empty()) return GiveUp(node, PrintableText(ready.refusal, kMaxReasonBytes));
  of_node->is_ready = true;
  running_->next = std::max(running_->next, ready.next);
  KeepIfReady();
}

void TraceControl::KeepIfReady() {
  Running& trace = *running_;
  const bool all_ready =
      std::all_of(trace.nodes.begin(), trace.nodes.end(), [](const auto& node) { return node.second.is_ready; });
  if (trace.phase != Phase::kBegins || !all_ready || trace.nodes.empty()) return;
  trace.phase = Phase::kNotes;
  // Until all members have noted for a while nobody can be further ahead than this, so that no chunk of it was missed.
  trace.first = Round(trace.next.value() + rounds_in_flight_);
  trace.last = Round(trace.first.value() + trace.rounds - 1);
  trace.deadline = std::max(trace.notes_until, context_->now);
  for (const auto& [node, of_node] : trace.nodes) Order(node, TraceOrder::Step::kKeep);
}

void TraceControl::On(NodeId node, const TracePiece& piece) {
  NodeTrace* const of_node = Find(node, piece.trace);
  if (of_node == nullptr || running_->phase == Phase::kBegins) return;
  of_node->records += piece.of_node.records.size() + piece.of_node.records.clocks.size();
  if (of_node->records > size_t{running_->share} + kMostNodeRecords / 8 || piece.of_node.node != node) {
    return GiveUp(node, "it sent other records than it was asked for");
  }
  if (running_->phase == Phase::kSends) running_->deadline = context_->now + kAnswerWithin;
  TracePiece passed = piece;
  passed.of_node.name = members_->NameOf(node);
  context_->outbox.Send(running_->asker, std::move(passed));
  if (!piece.is_last) return Order(node, TraceOrder::Step::kMore);
  running_->nodes.erase(node);
  EndIfDone();
}

void TraceControl::OnDisconnected(ConnectionId connection, std::optional<NodeId> node) {
  if (!running_.has_value()) return;
  if (connection == running_->asker) {
    for (const auto& [waited, of_node] : running_->nodes) Order(waited, TraceOrder::Step::kStop);
    running_.reset();
  } else if (node.has_value()) {
    GiveUp(*node, "its connection was lost");
  }
}

void TraceControl::OnMembersChanged() {
  if (!running_.has_value()) return;
  std::vector<NodeId> gone;
  for (const auto& [node, of_node] : running_->nodes) {
    if (!members_->table().Find(node).is_member) gone.push_back(node);
  }
  for (const NodeId node : gone) GiveUp(node, "it fell out of the job");
}

void TraceControl::OnDeadline() {
  if (!running_.has_value() || context_->now < running_->deadline) return;
  if (context_->StorageStandsFor() >= kStorageStandsAfter && running_->phase != Phase::kNotes) {
    // What the nodes are to answer waits for it.
    running_->deadline = context_->now + kAnswerWithin;
    return;
  }
  const std::string silence = absl::StrCat("it did not answer within ", absl::FormatDuration(kAnswerWithin));
  if (running_->phase == Phase::kSends) return GiveUpAll(silence);
  if (running_->phase == Phase::kNotes) {
    running_->phase = Phase::kSends;
    running_->deadline = context_->now + kAnswerWithin;
    for (const auto& [node, of_node] : running_->nodes) Order(node, TraceOrder::Step::kSend);
    return;
  }
  std::vector<NodeId> silent;
  for (const auto& [node, of_node] : running_->nodes) {
    if (!of_node.is_ready) silent.push_back(node);
  }
  for (const NodeId node : silent) GiveUp(node, silence);
}

void TraceControl::GiveUp(NodeId node, const std::string& why) {
  if (!running_.has_value() || running_->nodes.erase(node) == 0) return;
  Order(node, TraceOrder::Step::kStop);
  running_->missing.push_back({members_->NameOf(node), why});
  KeepIfReady();
  EndIfDone();
}

void TraceControl::GiveUpAll(const std::string& why) {
  for (const auto& [node, of_node] : std::map(running_->nodes)) GiveUp(node, why);
}

void TraceControl::End(const std::string& why) {
  if (running_.has_value()) GiveUpAll(why);
}

void TraceControl::EndIfDone() {
  if (!running_->nodes.empty()) return;
  context_->outbox.Send(running_->asker, TraceEnd{running_->first, running_->last, std::move(running_->missing)});
  running_.reset();
}

}  // namespace banyan
