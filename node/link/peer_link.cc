#include "node/link/peer_link.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "node/chunk_size.h"
#include "node/link/link_ack_buffer.h"
#include "node/trim/chunk_cut.h"

namespace banyan {

PeerLink::PeerLink(Options options, const std::vector<ConnectionId>& data)
    : options_(options),
      chunks_(data, options.tiny_bytes, options.first_sequence),
      pacer_(data),
      resend_timer_(options.resend_after),
      stall_watch_(options.lost_after, data) {}

void PeerLink::Enqueue(ChunkMessage message, Payload payload) {
  Enqueue(std::make_shared<ChunkInFlight>(std::move(message), std::move(payload)), /*resend=*/false);
}

void PeerLink::Clear() {
  chunks_.Clear();
  stall_watch_.Clear();
}

void PeerLink::Pump(Timestamp now, Actions& actions) {
  pacer_.SendPaced(now, options_.window.pace_bps, chunks_, actions, [&] { SendQueued(now, actions); });
}

void PeerLink::SendQueued(Timestamp now, Actions& actions) {
  while (chunks_.has_queued()) {
    const int64_t size_bytes = chunks_.Next().size_bytes;
    if (!chunks_.sent().empty() && in_flight_bytes() + size_bytes > options_.window.size_bytes) return;
    const std::optional<ConnectionId> connection = chunks_.connections().LeastLoaded(options_.window.connections);
    if (!connection.has_value()) {
      if (!waits_since_.has_value()) waits_since_ = now;
      return;
    }
    SendNext(now, *connection, actions);
  }
}

void PeerLink::SendNext(Timestamp now, ConnectionId connection, Actions& actions) {
  CountBusy(now);
  ChunkPtr chunk = chunks_.TakeNext();
  ChunkMessage message;
  Payload payload = chunk->CopyTo(message);
  Cut(now, *chunk, message, payload);
  const int64_t size_bytes = chunk->size_bytes;
  message.ack_may_wait = AckMayWait(size_bytes);
  if (chunk->resend) counters_.resent_bytes += size_bytes;
  if (message.is_auxiliary) counters_.auxiliary_bytes += size_bytes;
  const Sent& sent = chunks_.Send(std::move(chunk), connection, hedger_.AckTimes(AckAfter(size_bytes)), now);
  HandOver(sent, std::move(message), std::move(payload), actions);
}

void PeerLink::Cut(Timestamp now, ChunkInFlight& chunk, ChunkMessage& message, Payload& payload) {
  if (options_.trimmer == nullptr) return;
  if (IsResultInLevels(message)) return CountResult(now, chunk);
  if (!options_.trimmer->Cut(now, queued_bytes(), message, payload)) return;
  const int64_t left_bytes = WireBytes(message, payload);
  ++counters_.cut_chunks;
  counters_.cut_bytes += static_cast<uint64_t>(chunk.size_bytes - left_bytes);
  chunk.size_bytes = left_bytes;
  chunk.frames = message.frames.size();
}

void PeerLink::CountResult(Timestamp now, const ChunkInFlight& chunk) {
  counters_.result_bytes += static_cast<uint64_t>(chunk.size_bytes);
  counters_.excess_bytes += static_cast<uint64_t>(options_.trimmer->ExcessBytes(now, queued_bytes(), chunk.message));
}

bool PeerLink::AckMayWait(int64_t size_bytes) const {
  if (!chunks_.has_queued() || chunks_.sent().size() < kAheadOfSharedAck) return false;
  return options_.window.TimeOf(size_bytes) < LinkAckBuffer::kLongestWait;
}

void PeerLink::HandOver(const Sent& sent, ChunkMessage message, Payload payload, Actions& actions) {
  counters_.sent_bytes += sent.size_bytes;
  pacer_.OnSent(sent.connection, sent.size_bytes);
  stall_watch_.OnSent(sent.connection, sent.link_sequence, sent.sent_at);
  message.link_sequence = sent.link_sequence;
  message.sent_at = sent.sent_at;
  actions.emplace_back(std::in_place_type<Send>, Send{sent.connection, std::move(message), std::move(payload)});
}

void PeerLink::Hedge(Timestamp now, Actions& actions) {
  pacer_.SendPaced(now, options_.window.pace_bps, chunks_, actions, [&] { SendCopies(now, actions); });
}

void PeerLink::SendCopies(Timestamp now, Actions& actions) {
  for (const uint64_t late : hedger_.Due(chunks_, resend_timer_, now)) {
    const std::optional<ConnectionId> idle = chunks_.connections().Idle();
    if (!idle.has_value()) return;
    const int64_t size_bytes = chunks_.sent().at(late).size_bytes;
    counters_.hedged_bytes += size_bytes;
    const Sent& twin = chunks_.SendTwin(late, *idle, AckAfter(size_bytes), now);
    ChunkMessage message;
    Payload payload = twin.chunk->CopyTo(message);
    // Its ack may not wait.
    message.ack_may_wait = false;
    HandOver(twin, std::move(message), std::move(payload), actions);
  }
}

std::optional<PeerLink::Sent> PeerLink::OnLinkAck(uint64_t link_sequence, Timestamp now) {
  if (chunks_.sent().contains(link_sequence)) CountBusy(now);
  const std::optional<ConnectionId> carrier = stall_watch_.OnAck(link_sequence, now);
  if (carrier.has_value()) chunks_.SetTrusted(*carrier, true);
  std::optional<Sent> sent = chunks_.Acknowledge(link_sequence);
  if (!sent.has_value()) return std::nullopt;
  resend_timer_.OnAck(now - sent->sent_at, now);
  hedger_.OnAck(*sent, now);
  return sent;
}

absl::Duration PeerLink::OnConnectionDown(ConnectionId connection, Timestamp now) {
  pacer_.OnConnectionDown(connection);
  chunks_.OnConnectionDown(connection);
  return stall_watch_.OnConnectionDown(connection, now);
}

absl::Duration PeerLink::RoundTrip() const {
  const absl::Duration expected = options_.window.AckAfter(in_flight_bytes());
  const bool is_known = expected < absl::InfiniteDuration();
  return std::max(resend_timer_.slowest_ack(), is_known ? expected : absl::ZeroDuration());
}

std::vector<ConnectionId> PeerLink::FindStalled(Timestamp now) {
  std::vector<ConnectionId> stalled = stall_watch_.FindStalled(now, RoundTrip());
  for (const ConnectionId connection : stalled) chunks_.SetTrusted(connection, false);
  return stalled;
}

void PeerLink::ResendOverdue(Timestamp now) {
  if (now < NextDeadline()) return;
  resend_timer_.OnTimeout(now);
  chunks_.GiveUpOlderThan(resend_timer_.resend_after(), now);
}

void PeerLink::CountBusy(Timestamp now) {
  if (!chunks_.sent().empty()) counters_.busy += now - busy_counted_at_;
  busy_counted_at_ = now;
}

bool PeerLink::IsStuck(Timestamp now) const {
  if (!is_up()) {
    return chunks_.connections().was_up() || (waits_since_.has_value() && now - *waits_since_ > kStuckAfter);
  }
  return !chunks_.sent().empty() && now - resend_timer_.WaitsSince(chunks_.oldest_sent_at()) > kStuckAfter;
}

Timestamp PeerLink::NextDeadline() const {
  return chunks_.sent().empty() ? kNever : resend_timer_.Deadline(chunks_.oldest_sent_at());
}

}  // namespace banyan
