// Control messages between nodes. Values; thread-compatible.
#ifndef BANYAN_PROTO_PEER_MESSAGES_H_
#define BANYAN_PROTO_PEER_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"
#include "proto/fields.h"

namespace banyan {

// Raised with every change that an older process would misread.
inline constexpr uint32_t kProtocolVersion = 13;

// The first message on every connection between nodes, control and data, in the direction in which it was opened. The
// acceptor sends nothing on it: it answers on the connection that it opens itself.
struct PeerHello {
  uint32_t protocol_version = kProtocolVersion;
  std::string job;
  Term term;
  NodeId node;
  Incarnation incarnation;
  NodeId to = {};  // whom it wants to reach; 0 where it does not say

  friend bool operator==(const PeerHello&, const PeerHello&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PeerHello& m) {
  v(1, "protocol_version", m.protocol_version);
  v(2, "job", m.job, kText);
  v(3, "term", m.term, kNonZero);
  v(4, "node", m.node, kNonZero);
  v(5, "incarnation", m.incarnation, kNonZero);
  v(6, "to", m.to);
}

// The acceptor of a connection will not listen on it any more: the opener closes it and may open another one. Drivers
// exchange it on connections of every kind; cores see the end of the connection.
struct GoAway {
  std::string reason;

  friend bool operator==(const GoAway&, const GoAway&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, GoAway& m) {
  v(1, "reason", m.reason, kReason);
}

// Per hop, on receipt (where the sender says so: on that of the chunk that follows): frees credit, and with its times
// is the measurement of the link.
struct LinkAck {
  struct Entry {
    uint64_t link_sequence = 0;
    Timestamp sent_at;      // as in the chunk, the sender's clock
    Timestamp received_at;  // the receiver's clock
    // The chunk was for the receiver, which has taken it: its delivery ack travels here, since no relay has to know.
    bool is_delivered = false;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;

  friend bool operator==(const LinkAck&, const LinkAck&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, LinkAck::Entry& m) {
  v(1, "link_sequence", m.link_sequence);
  v(2, "sent_at", m.sent_at);
  v(3, "received_at", m.received_at);
  v(4, "is_delivered", m.is_delivered);
}

template <typename Visitor>
void Fields(Visitor& v, LinkAck& m) {
  v(1, "entries", m.entries);
}

// End to end from the node that aggregates (or takes the result) back over the relays to the source: ends resending. Of
// chunks that came straight from their source the link ack says it.
struct DeliveryAck {
  SourceRoute route;
  std::vector<ChunkId> chunks;

  friend bool operator==(const DeliveryAck&, const DeliveryAck&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, DeliveryAck& m) {
  v(1, "route", m.route);
  v(2, "chunks", m.chunks);
}

// No room: the source keeps the bytes and resends on a Grant, or by another path. Comes from the destination, or from a
// relay on the way (route.source()), which has dropped the chunks.
struct Busy {
  SourceRoute route;
  std::vector<ChunkId> chunks;

  friend bool operator==(const Busy&, const Busy&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Busy& m) {
  v(1, "route", m.route);
  v(2, "chunks", m.chunks);
}

// There is room again for these chunks, which the route's destination holds back; with none named, for all of them.
struct Grant {
  SourceRoute route;
  std::vector<ChunkId> chunks = {};

  friend bool operator==(const Grant&, const Grant&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Grant& m) {
  v(1, "route", m.route);
  v(2, "chunks", m.chunks);
}

// Silence ends a peer: sent once per heartbeat interval. Its echo of the neighbour's last heartbeat makes the four
// times of a clock comparison.
struct PeerHeartbeat {
  struct Echo {
    Timestamp sent_at;      // of the neighbour's heartbeat, the neighbour's clock
    Timestamp received_at;  // when it came, the clock of who sends this
    friend bool operator==(const Echo&, const Echo&) = default;
  };
  Timestamp sent_at;
  std::optional<Echo> echo;

  friend bool operator==(const PeerHeartbeat&, const PeerHeartbeat&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PeerHeartbeat::Echo& m) {
  v(1, "sent_at", m.sent_at);
  v(2, "received_at", m.received_at);
}

template <typename Visitor>
void Fields(Visitor& v, PeerHeartbeat& m) {
  v(1, "sent_at", m.sent_at);
  v(2, "echo", m.echo);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PEER_MESSAGES_H_
