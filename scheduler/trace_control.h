// Has the members note the next rounds when somebody asks for it, and passes their records on to who has asked.
// Thread-compatible; owned by the core.
//
// Invariants:
// - One trace at a time, of at most kMostRecords records over all nodes. None of them is kept here.
// - Each node owes at most one piece at a time.
// - Whoever does not answer in time, or goes, is named in the end; the others' records are passed on.
#ifndef BANYAN_SCHEDULER_TRACE_CONTROL_H_
#define BANYAN_SCHEDULER_TRACE_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/tracing/trace_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

class TraceControl {
 public:
  static constexpr uint32_t kMostRecords = 1 << 18;
  static constexpr uint32_t kMostNodeRecords = 1 << 16;
  // For the answer of a node that is to note rounds, and for each piece.
  static constexpr absl::Duration kAnswerWithin = absl::Seconds(10);

  // `rounds_in_flight` of each key may be open at a time. The pointers outlive this.
  TraceControl(const JobState* job, JobMembers* members, uint64_t rounds_in_flight, SchedulerContext* context)
      : job_(job), members_(members), rounds_in_flight_(rounds_in_flight), context_(context) {}

  // Begins a trace for whoever is on `connection`, or says why not.
  void On(ConnectionId connection, const TraceRounds& order);
  void On(NodeId node, const TraceReady& ready);
  void On(NodeId node, const TracePiece& piece);
  // The connection is gone: the one that has asked, or that of `node`.
  void OnDisconnected(ConnectionId connection, std::optional<NodeId> node);
  // Those who are no members any more are not waited for.
  void OnMembersChanged();
  void OnDeadline();
  // Nobody is there any more to answer.
  void End(const std::string& why);
  Timestamp NextDeadline() const { return running_.has_value() ? running_->deadline : kNever; }

 private:
  enum class Phase : uint8_t {
    kBegins,  // nodes are to say that they note
    kNotes,   // nodes note rounds, and send when these are closed
    kSends    // nodes are to send what they have
  };
  struct NodeTrace {
    bool is_ready = false;
    size_t records = 0;  // that came
  };
  struct Running {
    TraceId id;
    ConnectionId asker;
    Phase phase = Phase::kBegins;
    uint32_t rounds = 0;
    uint32_t share = 0;     // of each node in the records
    Timestamp notes_until;  // then nodes send what they have
    Timestamp deadline;
    Round next;  // no node that is ready has begun it
    Round first;
    Round last;
    std::map<NodeId, NodeTrace> nodes;  // that are waited for
    std::vector<TraceEnd::Missing> missing;
  };

  // The member, if the trace waits for it and this is of that trace; else rejects the message.
  NodeTrace* Find(NodeId node, TraceId trace);
  void Order(NodeId node, TraceOrder::Step step);
  void GiveUp(NodeId node, const std::string& why);
  void GiveUpAll(const std::string& why);
  // Says which rounds are wanted when all are ready.
  void KeepIfReady();
  void EndIfDone();

  const JobState* job_;
  JobMembers* members_;
  const uint64_t rounds_in_flight_;
  SchedulerContext* context_;
  TraceId last_trace_;
  std::optional<Running> running_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TRACE_CONTROL_H_
