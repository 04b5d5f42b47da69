// The chunks of one link: those that wait for it, in the order in which they are to go, and those that are in flight,
// sent and not acknowledged by the neighbour.
//
// Order: tiny chunks first, and those that were cut on their way, then by priority, round and place in the model. That
// order is the same on all links, so that nobody waits for a chunk that stands behind one which has just begun. A
// result counts as kGradientsBeforeResult places later. Chunks on an auxiliary path go last, but one of them follows
// every kPrimaryPerAuxiliary others.
//
// A chunk may be in flight twice, as twins on two connections. Whichever is acknowledged first counts; the other one is
// settled then. A settled copy takes no room in the window (in_flight_bytes()), but its connection has it until its own
// ack. Thread-compatible; owned by PeerLink.
//
// Invariants:
// - No two chunks that wait have the same rank; of chunks that are otherwise equal the one that came first goes first.
// - A chunk leaves the flight by an ack, by Clear, or when the last of its copies is given up. Then it stands in the
//   queue where it stood, as a resend.
// - Link sequences rise by one with each copy sent and are never used twice.
// - Of each chunk at most two copies are in flight, and these name each other as twins.
// - queued_bytes(), in_flight_bytes() and relayed_bytes() are sums over what waits and sent(): twins count twice,
//   settled copies not at all.
// - connections() carry all copies in flight and all settled ones; each settled one overtakes its connection.
#ifndef BANYAN_NODE_LINK_LINK_CHUNKS_H_
#define BANYAN_NODE_LINK_LINK_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/chunk_in_flight.h"
#include "node/link/data_connections.h"

namespace banyan {

class LinkChunks {
 public:
  // Small enough that auxiliary paths never starve, and so large that they take at most a seventh of what a link's own
  // chunks need.
  static constexpr uint32_t kPrimaryPerAuxiliary = 6;
  // Gradients have the way to the root and back before them, results only the way back. But not all gradients go first:
  // in deep trees results come late, and a link would have nothing to send at first and too much at the end.
  static constexpr uint32_t kGradientsBeforeResult = 40;
  // TakeForAuxiliary looks at so many chunks from the head: enough to find one, and cheap in a long queue.
  static constexpr int kAuxiliaryLookahead = 16;

  // When the ack of a chunk is expected, both after it was sent. Infinite where the link's rate is unknown.
  struct AckTimes {
    absl::Duration expected = absl::InfiniteDuration();
    absl::Duration late = absl::InfiniteDuration();  // from then on it is late
  };
  // One copy of a chunk in flight.
  struct Sent {
    ChunkPtr chunk;  // null once it is settled
    int64_t size_bytes = 0;
    ConnectionId connection;
    uint64_t link_sequence = 0;
    Timestamp sent_at;
    AckTimes ack_times;
    std::optional<uint64_t> twin;  // link sequence of the other copy, if there is one
  };
  using Wants = absl::FunctionRef<bool(const ChunkInFlight& chunk)>;

  // `connections` carry the chunks; all are down at first. A chunk of at most `tiny_bytes` goes before larger ones
  // whatever their priority.
  LinkChunks(const std::vector<ConnectionId>& connections, int64_t tiny_bytes, uint64_t first_sequence = 1)
      : tiny_bytes_(tiny_bytes), connections_(connections), next_sequence_(first_sequence) {}

  // Adds a chunk, whole; `resend` when it went out before. REQUIRES: no link has it.
  void Enqueue(ChunkPtr chunk, bool resend);
  // Returns the chunk that TakeNext takes. REQUIRES: has_queued(). Valid until the queue changes.
  const ChunkInFlight& Next() const { return *NextToSend()->second; }
  // Takes the chunk that is to be sent now, for Send. REQUIRES: has_queued().
  ChunkPtr TakeNext();
  // Takes, for an auxiliary path, the first chunk that `wants` accepts. Looks only at chunks near the head that this
  // node made and that are on no auxiliary path yet. Null when there is none.
  ChunkPtr TakeForAuxiliary(Wants wants);
  // Takes all chunks that wait and are on auxiliary paths, in order.
  std::vector<ChunkPtr> TakeAuxiliary();

  // Sends `chunk` on `connection` under the next link sequence. The returned reference is valid until the copy leaves.
  const Sent& Send(ChunkPtr chunk, ConnectionId connection, AckTimes ack_times, Timestamp now);
  // Sends a twin of `original` on `connection`, whose ack is expected after `ack_after`. REQUIRES: `original` is in
  // flight, without a twin, on another connection.
  const Sent& SendTwin(uint64_t original, ConnectionId connection, absl::Duration ack_after, Timestamp now);
  // Ends the flight of the copy that was acknowledged and returns it; its twin is settled. Empty when `link_sequence`
  // was never sent, or was acknowledged, settled or given up before.
  std::optional<Sent> Acknowledge(uint64_t link_sequence);
  void OnConnectionUp(ConnectionId connection) { connections_.OnUp(connection); }
  // As DataConnections.
  void SetTrusted(ConnectionId connection, bool is_trusted) { connections_.SetTrusted(connection, is_trusted); }
  // Gives up all copies on a connection that was lost. Chunks that have no other copy wait again.
  void OnConnectionDown(ConnectionId connection);
  // Gives up all copies that were sent `age` ago or earlier, likewise.
  void GiveUpOlderThan(absl::Duration age, Timestamp now);
  // Drops all chunks. Connections stay up, link sequences go on.
  void Clear();

  bool has_queued() const { return !queue_.empty(); }
  // Returns the round of the chunk at the head of the queue; empty when none waits.
  std::optional<Round> head_round() const;
  int64_t queued_bytes() const { return queued_bytes_; }
  // Returns the copies in flight by link sequence, the oldest first.
  const std::map<uint64_t, Sent>& sent() const { return sent_; }
  // Returns when the oldest copy in flight was sent. REQUIRES: one is in flight.
  Timestamp oldest_sent_at() const { return sent_.begin()->second.sent_at; }
  int64_t in_flight_bytes() const { return in_flight_bytes_; }
  // Returns the part of queued_bytes() and in_flight_bytes() that this node only forwards.
  int64_t relayed_bytes() const { return relayed_bytes_; }
  // Returns the link sequence of the next copy that is sent.
  uint64_t next_sequence() const { return next_sequence_; }
  const DataConnections& connections() const { return connections_; }

 private:
  using Queue = std::map<ChunkInFlight::Rank, ChunkPtr>;
  using Copies = std::map<uint64_t, Sent>;  // by link sequence

  // Puts a chunk at its place in the queue.
  void Wait(ChunkPtr chunk);
  ChunkPtr Take(Queue::const_iterator entry);
  Queue::const_iterator FirstAuxiliary() const;
  Queue::const_iterator NextToSend() const;
  const Sent& Add(Sent sent);
  // Removes a copy from the window; its connection still carries it.
  Copies::node_type Extract(Copies::const_iterator entry);
  void ForgetSettled(absl::FunctionRef<bool(const Sent&)> is_over);
  void GiveUp(absl::FunctionRef<bool(const Sent&)> is_lost);
  // Adds `size_bytes` of a chunk, or of a copy, to `sum_bytes`, and to those that are relayed if it is.
  void Count(const ChunkInFlight& chunk, int64_t size_bytes, int64_t& sum_bytes);

  int64_t tiny_bytes_;
  Queue queue_;
  uint64_t next_arrival_ = 0;
  uint32_t primary_in_a_row_ = 0;  // taken by TakeNext since the last one on an auxiliary path
  DataConnections connections_;
  Copies sent_;
  Copies settled_;  // whose twins were acknowledged first
  uint64_t next_sequence_;
  int64_t queued_bytes_ = 0;
  int64_t in_flight_bytes_ = 0;
  int64_t relayed_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_LINK_CHUNKS_H_
