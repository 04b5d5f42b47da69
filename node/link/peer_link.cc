#include "node/link/peer_link.h"

#include <algorithm>
#include <utility>

#include "node/chunk_size.h"
#include "node/link/link_ack_buffer.h"
#include "node/trim/chunk_cut.h"

namespace banyan {

PeerLink::PeerLink(Options options, const std::vector<ConnectionId>& data)
    : options_(options),
      queue_(options.tiny_bytes),
      flight_(data, options.first_sequence),
      pacer_(data),
      resend_timer_(options.resend_after),
      stall_watch_(options.lost_after, data) {}

void PeerLink::Enqueue(ChunkMessage message, Payload payload, bool resend) {
  queue_.Enqueue(std::move(message), std::move(payload), resend);
}

void PeerLink::Clear() {
  queue_.Clear();
  flight_.Clear();
  stall_watch_.Clear();
}

void PeerLink::Pump(Timestamp now, Actions& actions) {
  pacer_.SendPaced(now, options_.window.pace_bps, flight_, actions, [&] { SendQueued(now, actions); });
}

void PeerLink::SendQueued(Timestamp now, Actions& actions) {
  while (!queue_.empty()) {
    const int64_t size_bytes = queue_.Next().size_bytes;
    if (!flight_.empty() && flight_.bytes() + size_bytes > options_.window.size_bytes) return;
    const std::optional<ConnectionId> connection = flight_.connections().LeastLoaded(options_.window.connections);
    if (!connection.has_value()) {
      if (!waits_since_.has_value()) waits_since_ = now;
      return;
    }
    SendNext(now, *connection, actions);
  }
}

void PeerLink::SendNext(Timestamp now, ConnectionId connection, Actions& actions) {
  CountBusy(now);
  SendQueue::Chunk chunk = queue_.TakeNext();
  Cut(now, chunk);
  const int64_t size_bytes = chunk.size_bytes;
  chunk.message.ack_may_wait = AckMayWait(size_bytes);
  if (chunk.resend) counters_.resent_bytes += size_bytes;
  if (chunk.message.is_auxiliary) counters_.auxiliary_bytes += size_bytes;
  HandOver(flight_.Add(std::move(chunk), connection, hedger_.AckTimes(AckAfter(size_bytes)), now), actions);
}

void PeerLink::Cut(Timestamp now, Queued& chunk) {
  if (options_.trimmer == nullptr) return;
  if (IsResultInLevels(chunk.message)) return CountResult(now, chunk);
  if (!options_.trimmer->Cut(now, queue_.size_bytes(), chunk.message, chunk.payload)) return;
  const int64_t left_bytes = WireBytes(chunk.message, chunk.payload);
  ++counters_.cut_chunks;
  counters_.cut_bytes += static_cast<uint64_t>(chunk.size_bytes - left_bytes);
  chunk.size_bytes = left_bytes;
}

void PeerLink::CountResult(Timestamp now, const Queued& chunk) {
  counters_.result_bytes += static_cast<uint64_t>(chunk.size_bytes);
  counters_.excess_bytes +=
      static_cast<uint64_t>(options_.trimmer->ExcessBytes(now, queue_.size_bytes(), chunk.message));
}

bool PeerLink::AckMayWait(int64_t size_bytes) const {
  if (queue_.empty() || flight_.size() < kAheadOfSharedAck) return false;
  return options_.window.TimeOf(size_bytes) < LinkAckBuffer::kLongestWait;
}

void PeerLink::HandOver(const Flight::Sent& sent, Actions& actions) {
  counters_.sent_bytes += sent.chunk.size_bytes;
  pacer_.OnSent(sent.connection, sent.chunk.size_bytes);
  stall_watch_.OnSent(sent.connection, sent.link_sequence(), sent.sent_at());
  actions.emplace_back(std::in_place_type<Send>, Send{sent.connection, sent.chunk.message, sent.chunk.payload});
}

void PeerLink::Hedge(Timestamp now, Actions& actions) {
  pacer_.SendPaced(now, options_.window.pace_bps, flight_, actions, [&] { SendCopies(now, actions); });
}

void PeerLink::SendCopies(Timestamp now, Actions& actions) {
  for (const uint64_t late : hedger_.Due(flight_, queue_.head_round(), resend_timer_, now)) {
    const std::optional<ConnectionId> idle = flight_.connections().Idle();
    if (!idle.has_value()) return;
    const int64_t size_bytes = flight_.sent().at(late).chunk.size_bytes;
    counters_.hedged_bytes += size_bytes;
    HandOver(flight_.AddTwin(late, *idle, AckAfter(size_bytes), now), actions);
  }
}

std::optional<ChunkMessage> PeerLink::OnLinkAck(uint64_t link_sequence, Timestamp now) {
  if (flight_.sent().contains(link_sequence)) CountBusy(now);
  const std::optional<ConnectionId> carrier = stall_watch_.OnAck(link_sequence, now);
  if (carrier.has_value()) flight_.SetTrusted(*carrier, true);
  std::optional<Flight::Sent> sent = flight_.Acknowledge(link_sequence);
  if (!sent.has_value()) return std::nullopt;
  resend_timer_.OnAck(now - sent->sent_at(), now);
  hedger_.OnAck(*sent, now);
  return std::move(sent->chunk.message);
}

absl::Duration PeerLink::OnConnectionDown(ConnectionId connection, Timestamp now) {
  pacer_.OnConnectionDown(connection);
  for (SendQueue::Chunk& chunk : flight_.OnConnectionDown(connection)) queue_.Return(std::move(chunk));
  return stall_watch_.OnConnectionDown(connection, now);
}

absl::Duration PeerLink::RoundTrip() const {
  const absl::Duration expected = options_.window.AckAfter(flight_.bytes());
  const bool is_known = expected < absl::InfiniteDuration();
  return std::max(resend_timer_.slowest_ack(), is_known ? expected : absl::ZeroDuration());
}

std::vector<ConnectionId> PeerLink::FindStalled(Timestamp now) {
  std::vector<ConnectionId> stalled = stall_watch_.FindStalled(now, RoundTrip());
  for (const ConnectionId connection : stalled) flight_.SetTrusted(connection, false);
  return stalled;
}

void PeerLink::ResendOverdue(Timestamp now) {
  if (now < NextDeadline()) return;
  resend_timer_.OnTimeout(now);
  const absl::Duration age = resend_timer_.resend_after();
  for (SendQueue::Chunk& chunk : flight_.TakeOlderThan(age, now)) queue_.Return(std::move(chunk));
}

void PeerLink::CountBusy(Timestamp now) {
  if (!flight_.empty()) counters_.busy += now - busy_counted_at_;
  busy_counted_at_ = now;
}

bool PeerLink::IsStuck(Timestamp now) const {
  if (!is_up()) {
    return flight_.connections().was_up() || (waits_since_.has_value() && now - *waits_since_ > kStuckAfter);
  }
  return !flight_.empty() && now - resend_timer_.WaitsSince(flight_.oldest_sent_at()) > kStuckAfter;
}

Timestamp PeerLink::NextDeadline() const {
  return flight_.empty() ? kNever : resend_timer_.Deadline(flight_.oldest_sent_at());
}

}  // namespace banyan
