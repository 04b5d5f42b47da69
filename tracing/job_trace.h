// The traced rounds of all nodes on one clock. Values; thread-compatible.
#ifndef BANYAN_TRACING_JOB_TRACE_H_
#define BANYAN_TRACING_JOB_TRACE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/tracing/round_records.h"

namespace banyan {

// A chunk on one link: it was ready, waited for the link, and was under way. Of a chunk that the sender only passes on
// it is ready when it has come.
struct Hop {
  ChunkJourney journey;
  NodeId from;
  NodeId to;
  int64_t size_bytes = 0;
  Timestamp ready_at;
  Timestamp sent_at;
  Timestamp received_at;

  bool is_relayed() const { return from != journey.source; }
};

// Something happened to a round of a key at a node.
struct Mark {
  NodeId node;
  RoundRecords::Step step = RoundRecords::Step::kContributed;
  Round round;
  KeyId key;
  Timestamp at;
};

struct JobTrace {
  std::map<NodeId, std::string> names;  // of the nodes whose records are here
  std::vector<Hop> hops;                // in the order in which they came
  std::vector<Mark> marks;              // in order of time
  uint64_t left_out = 0;                // records for which nodes had no room
  absl::Duration clock_uncertainty;     // the most by which a node's times may err against the others'
  std::set<NodeId> unaligned;           // nodes whose clock compares with no other: their records are not here

  // Returns "node 7" for one whose records are not here.
  std::string NameOf(NodeId node) const;
  // The rounds that some node has begun and all have completed, in order.
  std::vector<Round> CompleteRounds() const;
};

// Puts the records of the nodes together. Each byte of theirs counts `scale` times. REQUIRES: a name for each.
JobTrace MakeJobTrace(const std::map<NodeId, RoundRecords>& records, std::map<NodeId, std::string> names,
                      int64_t scale = 1);

}  // namespace banyan

#endif  // BANYAN_TRACING_JOB_TRACE_H_
