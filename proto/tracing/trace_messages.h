// What an operator, the scheduler and the nodes say to each other of rounds that are traced. Values; thread-compatible.
//
// The scheduler has all members note from now on (kNote). Each says which round it begins next (TraceReady), and so
// there is a first round that all note from its beginning. The scheduler names the rounds (kKeep); a node that has
// completed them sends its first piece, and another one whenever it is asked (kMore).
#ifndef BANYAN_PROTO_TRACING_TRACE_MESSAGES_H_
#define BANYAN_PROTO_TRACING_TRACE_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "proto/fields.h"
#include "proto/tracing/round_records.h"

namespace banyan {

using TraceId = StrongId<struct TraceIdTag, uint64_t>;

// From `banyan trace`, on a connection that does not join: note the next rounds. Answered by TracePieces and TraceEnd,
// or by OperatorReply where it is refused.
struct TraceRounds {
  static constexpr uint32_t kMost = 1000;

  uint32_t rounds = 1;
  absl::Duration patience = absl::Minutes(1);  // after it nodes send what they have noted by then
  friend bool operator==(const TraceRounds&, const TraceRounds&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TraceRounds& m) {
  v(1, "rounds", m.rounds, Range{1u, TraceRounds::kMost});
  v(2, "patience", m.patience, kNotNegative);
}

// To every member.
struct TraceOrder {
  enum class Step : uint8_t {
    kNote,  // note rounds from the next that this node begins, and say which that is
    kKeep,  // of these rounds, `first` to `last`: send the first piece when they are complete here
    kSend,  // send it now
    kMore,  // send the next piece
    kStop   // forget them all
  };
  Term term;
  TraceId trace;
  Step step = Step::kNote;
  Round first;                // of kKeep
  Round last;                 // of kKeep; of kNote how many rounds are wanted
  uint32_t most_records = 0;  // of kNote: which the node may hold
  friend bool operator==(const TraceOrder&, const TraceOrder&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TraceOrder& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "trace", m.trace, kNonZero);
  v(3, "step", m.step, UpTo{TraceOrder::Step::kStop});
  v(4, "first", m.first);
  v(5, "last", m.last);
  v(6, "most_records", m.most_records);
}

// Node to scheduler: it notes.
struct TraceReady {
  TraceId trace;
  Round next;           // it has begun no key's round from this one on
  std::string refusal;  // why it does not note, empty when it does
  friend bool operator==(const TraceReady&, const TraceReady&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TraceReady& m) {
  v(1, "trace", m.trace, kNonZero);
  // Rounds far from the end can be added to.
  v(2, "next", m.next, Range{uint64_t{0}, UINT64_MAX / 2});
  v(3, "refusal", m.refusal, kReason);
}

// Node to scheduler to operator: a part of what one node has noted.
struct TracePiece {
  // Little enough not to keep heartbeats behind it waiting.
  static constexpr size_t kMostRecords = 2048;

  TraceId trace;
  NodeRecords of_node;
  bool is_last = false;  // of this node
  friend bool operator==(const TracePiece&, const TracePiece&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TracePiece& m) {
  v(1, "trace", m.trace, kNonZero);
  v(2, "records", m.of_node);
  v.Check([&m](FieldReader& fields) {
    const RoundRecords& records = m.of_node.records;
    fields.Between("records", records.size() + records.clocks.size(), size_t{0}, TracePiece::kMostRecords);
  });
  v(3, "is_last", m.is_last);
}

// Scheduler to operator: all that came has been passed on.
struct TraceEnd {
  struct Missing {
    std::string node;  // its name
    std::string reason;
    friend bool operator==(const Missing&, const Missing&) = default;
  };
  Round first;  // 0: there were none
  Round last;
  std::vector<Missing> missing;  // nodes of which some or all records are missing
  friend bool operator==(const TraceEnd&, const TraceEnd&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TraceEnd::Missing& m) {
  v(1, "node", m.node, kName);
  v(2, "reason", m.reason, kReason);
}

template <typename Visitor>
void Fields(Visitor& v, TraceEnd& m) {
  v(1, "first", m.first);
  v(2, "last", m.last);
  v(3, "missing", m.missing);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TRACING_TRACE_MESSAGES_H_
