#include <vector>

#include "proto/message_wire.h"

namespace banyan {
namespace {

template <typename Proto>
void WriteChunks(const std::vector<ChunkId>& from, Proto& to) {
  to.mutable_chunks()->Reserve(static_cast<int>(from.size()));
  for (const ChunkId& id : from) WriteChunkId(id, *to.add_chunks());
}

template <typename Proto>
std::vector<ChunkId> ReadChunks(const Proto& from, FieldReader& fields) {
  std::vector<ChunkId> chunks;
  const int count = fields.Count("chunks", from.chunks_size());
  chunks.reserve(count);
  for (int i = 0; i < count; ++i) chunks.push_back(ReadChunkId(from.chunks(i), fields.Within("chunks", i)));
  return chunks;
}

}  // namespace

void Write(const PeerHello& from, wire::Envelope& to) {
  wire::PeerHello& hello = *to.mutable_peer_hello();
  hello.set_protocol_version(from.protocol_version);
  hello.set_job(from.job);
  hello.set_term(from.term.value());
  hello.set_node(from.node.value());
  hello.set_incarnation(from.incarnation.value());
  hello.set_to(from.to.value());
}

PeerHello Read(const wire::PeerHello& from, FieldReader fields) {
  PeerHello hello;
  hello.protocol_version = from.protocol_version();
  hello.job = fields.Text("job", from.job());
  hello.term = fields.NonZero<Term>("term", from.term());
  hello.node = fields.NonZero<NodeId>("node", from.node());
  hello.incarnation = fields.NonZero<Incarnation>("incarnation", from.incarnation());
  hello.to = NodeId(from.to());
  return hello;
}

void Write(const GoAway& from, wire::Envelope& to) { to.mutable_go_away()->set_reason(SendableReason(from.reason)); }

GoAway Read(const wire::GoAway& from, FieldReader fields) { return GoAway{fields.Reason("reason", from.reason())}; }

void Write(const LinkAck& from, wire::Envelope& to) {
  wire::LinkAck& ack = *to.mutable_link_ack();
  ack.mutable_entries()->Reserve(static_cast<int>(from.entries.size()));
  for (const LinkAck::Entry& entry : from.entries) {
    wire::LinkAck::Entry& written = *ack.add_entries();
    written.set_link_sequence(entry.link_sequence);
    written.set_sent_at_ns(entry.sent_at.nanoseconds());
    written.set_received_at_ns(entry.received_at.nanoseconds());
    written.set_is_delivered(entry.is_delivered);
  }
}

LinkAck Read(const wire::LinkAck& from, FieldReader fields) {
  LinkAck ack;
  const int count = fields.Count("entries", from.entries_size());
  ack.entries.reserve(count);
  for (int i = 0; i < count; ++i) {
    const wire::LinkAck::Entry& entry = from.entries(i);
    FieldReader within = fields.Within("entries", i);
    ack.entries.push_back({entry.link_sequence(), within.Time("sent_at", entry.sent_at_ns()),
                           within.Time("received_at", entry.received_at_ns()), entry.is_delivered()});
  }
  return ack;
}

void Write(const DeliveryAck& from, wire::Envelope& to) {
  wire::DeliveryAck& ack = *to.mutable_delivery_ack();
  WriteSourceRoute(from.route, *ack.mutable_route());
  WriteChunks(from.chunks, ack);
}

DeliveryAck Read(const wire::DeliveryAck& from, FieldReader fields) {
  DeliveryAck ack;
  ack.route = ReadSourceRoute(from.route(), fields.Within("route"));
  ack.chunks = ReadChunks(from, fields);
  return ack;
}

void Write(const Busy& from, wire::Envelope& to) {
  wire::Busy& busy = *to.mutable_busy();
  WriteSourceRoute(from.route, *busy.mutable_route());
  WriteChunks(from.chunks, busy);
}

Busy Read(const wire::Busy& from, FieldReader fields) {
  Busy busy;
  busy.route = ReadSourceRoute(from.route(), fields.Within("route"));
  busy.chunks = ReadChunks(from, fields);
  return busy;
}

void Write(const Grant& from, wire::Envelope& to) {
  WriteSourceRoute(from.route, *to.mutable_grant()->mutable_route());
}

Grant Read(const wire::Grant& from, FieldReader fields) {
  return Grant{ReadSourceRoute(from.route(), fields.Within("route"))};
}

void Write(const PeerHeartbeat& from, wire::Envelope& to) {
  wire::PeerHeartbeat& heartbeat = *to.mutable_peer_heartbeat();
  heartbeat.set_sent_at_ns(from.sent_at.nanoseconds());
  if (!from.echo.has_value()) return;
  heartbeat.mutable_echo()->set_sent_at_ns(from.echo->sent_at.nanoseconds());
  heartbeat.mutable_echo()->set_received_at_ns(from.echo->received_at.nanoseconds());
}

PeerHeartbeat Read(const wire::PeerHeartbeat& from, FieldReader fields) {
  PeerHeartbeat heartbeat;
  heartbeat.sent_at = fields.Time("sent_at", from.sent_at_ns());
  if (from.has_echo()) {
    FieldReader echo = fields.Within("echo");
    heartbeat.echo = PeerHeartbeat::Echo{echo.Time("sent_at", from.echo().sent_at_ns()),
                                         echo.Time("received_at", from.echo().received_at_ns())};
  }
  return heartbeat;
}

}  // namespace banyan
