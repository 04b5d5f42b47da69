// What a node notes of rounds that are traced: the times at which chunks came, and at which its own were ready. Values;
// thread-compatible. Times are of the node's own clock unless they say otherwise.
#ifndef BANYAN_PROTO_TRACING_ROUND_RECORDS_H_
#define BANYAN_PROTO_TRACING_ROUND_RECORDS_H_

#include <climits>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/fields.h"

namespace banyan {

// One chunk of one round on its way up, or its result on the way down, from the node that made it to one that takes it.
struct ChunkJourney {
  Round round;
  KeyId key;
  ChunkIndex chunk;
  bool is_result = false;
  NodeId source;
  NodeId destination;

  friend auto operator<=>(const ChunkJourney&, const ChunkJourney&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, ChunkJourney& m) {
  v(1, "round", m.round);
  v(2, "key", m.key, kNonZero);
  v(3, "chunk", m.chunk);
  v(4, "is_result", m.is_result);
  v(5, "source", m.source, kNonZero);
  v(6, "destination", m.destination, kNonZero);
}

struct RoundRecords {
  // A chunk has come over a link, to its destination or to a relay.
  struct Arrival {
    ChunkJourney journey;
    NodeId from;  // who sent it on this link
    int64_t size_bytes = 0;
    Timestamp sent_at;  // the clock of `from`
    Timestamp received_at;
    friend bool operator==(const Arrival&, const Arrival&) = default;
  };
  // A chunk of this node was ready to go.
  struct Departure {
    ChunkJourney journey;
    Timestamp ready_at;
    friend bool operator==(const Departure&, const Departure&) = default;
  };
  enum class Step : uint8_t {
    kContributed,  // the workers' gradients are there, and summed
    kPolicyCame,   // the scheduler has said how the round travels
    kCompleted     // the whole result is there
  };
  struct Moment {
    Step step = Step::kContributed;
    Round round;
    KeyId key;
    Timestamp at;
    friend bool operator==(const Moment&, const Moment&) = default;
  };
  // What this node believed of the clock of a neighbour.
  struct ClockSample {
    NodeId peer;
    Timestamp at;
    absl::Duration offset;       // the peer's clock minus the own one
    absl::Duration uncertainty;  // to either side
    friend bool operator==(const ClockSample&, const ClockSample&) = default;
  };

  std::vector<Arrival> arrivals;
  std::vector<Departure> departures;
  std::vector<Moment> moments;
  std::vector<ClockSample> clocks;
  uint64_t left_out = 0;  // for which there was no room

  size_t size() const { return arrivals.size() + departures.size() + moments.size(); }
  friend bool operator==(const RoundRecords&, const RoundRecords&) = default;
};

inline constexpr uint32_t kRoundRecordsFormat = 1;

// The records of one node.
struct NodeRecords {
  std::string name;
  NodeId node;
  RoundRecords records;
  friend bool operator==(const NodeRecords&, const NodeRecords&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RoundRecords::Arrival& m) {
  v(1, "journey", m.journey);
  v(2, "from", m.from, kNonZero);
  v(3, "size_bytes", m.size_bytes, Range{int64_t{0}, INT64_MAX / 1024});
  v(4, "sent_at", m.sent_at);
  v(5, "received_at", m.received_at);
}

template <typename Visitor>
void Fields(Visitor& v, RoundRecords::Departure& m) {
  v(1, "journey", m.journey);
  v(2, "ready_at", m.ready_at);
}

template <typename Visitor>
void Fields(Visitor& v, RoundRecords::Moment& m) {
  v(1, "step", m.step, UpTo{RoundRecords::Step::kCompleted});
  v(2, "round", m.round);
  v(3, "key", m.key, kNonZero);
  v(4, "at", m.at);
}

template <typename Visitor>
void Fields(Visitor& v, RoundRecords::ClockSample& m) {
  // Clocks start anywhere, within a time since the start of a machine.
  constexpr Range kOffsetsNs = {-(INT64_MAX / 4), INT64_MAX / 4};
  v(1, "peer", m.peer, kNonZero);
  v(2, "at", m.at);
  v(3, "offset_ns", ZigZag(m.offset), kOffsetsNs);
  v(4, "uncertainty_ns", ZigZag(m.uncertainty), kNotNegative);
}

template <typename Visitor>
void Fields(Visitor& v, NodeRecords& m) {
  uint32_t format = kRoundRecordsFormat;
  v(1, "format", format);
  v(2, "name", m.name, kName);
  v(3, "node", m.node, kNonZero);
  v(4, "arrivals", m.records.arrivals);
  v(5, "departures", m.records.departures);
  v(6, "moments", m.records.moments);
  v(7, "clocks", m.records.clocks);
  v(8, "left_out", m.records.left_out);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TRACING_ROUND_RECORDS_H_
