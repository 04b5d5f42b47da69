// The chunks of one link that are in flight: sent, and not acknowledged by the neighbour. Each is kept whole until its
// link ack, so that a lost connection costs a resend.
//
// A chunk may be in flight twice, as twins on two connections. Whichever is acknowledged first counts; the other one is
// settled then. A settled copy takes no room in the window (bytes()), but its connection has it until its own ack.
//
// Invariants:
// - Link sequences rise by one with each copy sent and are never used twice.
// - Of each chunk at most two copies are in flight, and these name each other as twins.
// - bytes() and relayed_bytes() are sums over sent(): twins count twice, settled copies not at all.
// - connections() carry all copies in flight and all settled ones; each settled one overtakes its connection.
// - A chunk leaves by an ack, by Clear, or to be sent again when the last of its copies is given up.
// Thread-compatible; owned by PeerLink.
#ifndef BANYAN_NODE_LINK_FLIGHT_H_
#define BANYAN_NODE_LINK_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/data_connections.h"
#include "node/link/send_queue.h"

namespace banyan {

class Flight {
 public:
  // When the ack of a chunk is expected, both after it was sent. Infinite where the link's rate is unknown.
  struct AckTimes {
    absl::Duration expected = absl::InfiniteDuration();
    absl::Duration late = absl::InfiniteDuration();  // from then on it is late
  };
  // One copy of a chunk in flight.
  struct Sent {
    uint64_t link_sequence() const { return chunk.message.link_sequence; }
    Timestamp sent_at() const { return chunk.message.sent_at; }

    SendQueue::Chunk chunk;
    ConnectionId connection;
    AckTimes ack_times;
    std::optional<uint64_t> twin;  // link sequence of the other copy, if there is one
  };

  // `connections` carry the chunks; all are down at first.
  explicit Flight(const std::vector<ConnectionId>& connections, uint64_t first_sequence = 1)
      : connections_(connections), next_sequence_(first_sequence) {}

  // Returns the link sequence of the next chunk that is sent.
  uint64_t next_sequence() const { return next_sequence_; }
  // Sends `chunk` on `connection` under the next link sequence, which goes into its message with `now`. The returned
  // reference is valid until the copy leaves.
  const Sent& Add(SendQueue::Chunk chunk, ConnectionId connection, AckTimes ack_times, Timestamp now);
  // Sends a twin of `original` on `connection`; its ack may not wait and is expected after `ack_after`. REQUIRES:
  // `original` is in flight, without a twin, on another connection.
  const Sent& AddTwin(uint64_t original, ConnectionId connection, absl::Duration ack_after, Timestamp now);

  // Ends the flight of the copy that was acknowledged and returns it; its twin is settled. Empty when `link_sequence`
  // was never sent, or was acknowledged, settled or given up before.
  std::optional<Sent> Acknowledge(uint64_t link_sequence);
  void OnConnectionUp(ConnectionId connection) { connections_.OnUp(connection); }
  // As DataConnections.
  void SetTrusted(ConnectionId connection, bool is_trusted) { connections_.SetTrusted(connection, is_trusted); }
  // Gives up all copies on a connection that was lost. Returns the chunks that have no other copy, marked as resends.
  [[nodiscard]] std::vector<SendQueue::Chunk> OnConnectionDown(ConnectionId connection);
  // Gives up all copies that were sent `age` ago or earlier. Returns chunks as OnConnectionDown does.
  [[nodiscard]] std::vector<SendQueue::Chunk> TakeOlderThan(absl::Duration age, Timestamp now);
  // Drops all chunks. Connections stay up, link sequences go on.
  void Clear();

  // Returns the copies in flight by link sequence, the oldest first.
  const std::map<uint64_t, Sent>& sent() const { return sent_; }
  bool empty() const { return sent_.empty(); }
  size_t size() const { return sent_.size(); }
  // Returns when the oldest copy in flight was sent. REQUIRES: !empty().
  Timestamp oldest_sent_at() const { return sent_.begin()->second.sent_at(); }
  int64_t bytes() const { return bytes_; }
  // Returns the part of bytes() that this node only forwards.
  int64_t relayed_bytes() const { return relayed_bytes_; }
  const DataConnections& connections() const { return connections_; }

 private:
  // A copy whose twin was acknowledged first.
  struct Settled {
    ConnectionId connection;
    int64_t size_bytes = 0;
    Timestamp sent_at;
  };

  const Sent& Insert(Sent sent, Timestamp now);
  // Removes a copy from the window; its connection still carries it.
  Sent Extract(std::map<uint64_t, Sent>::iterator entry);
  void Settle(uint64_t link_sequence);
  void ForgetSettled(absl::FunctionRef<bool(uint64_t link_sequence, const Settled&)> is_over);
  std::vector<SendQueue::Chunk> GiveUp(absl::FunctionRef<bool(const Sent&)> is_lost);

  DataConnections connections_;
  std::map<uint64_t, Sent> sent_;        // by link sequence
  std::map<uint64_t, Settled> settled_;  // likewise
  int64_t bytes_ = 0;
  int64_t relayed_bytes_ = 0;
  uint64_t next_sequence_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_FLIGHT_H_
