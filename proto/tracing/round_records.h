// What a node notes of rounds that are traced: the times at which chunks came, and at which its own were ready. Values;
// thread-compatible. Times are of the node's own clock unless they say otherwise.
#ifndef BANYAN_PROTO_TRACING_ROUND_RECORDS_H_
#define BANYAN_PROTO_TRACING_ROUND_RECORDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"

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

// The records of one node.
struct NodeRecords {
  std::string name;
  NodeId node;
  RoundRecords records;
  friend bool operator==(const NodeRecords&, const NodeRecords&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_TRACING_ROUND_RECORDS_H_
