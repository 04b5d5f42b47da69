#include "node/link/hedger.h"

#include <algorithm>

namespace banyan {

LinkChunks::AckTimes Hedger::AckTimes(absl::Duration expected) const {
  return {.expected = expected, .late = kLateFactor * slowness_ * expected};
}

void Hedger::OnAck(const LinkChunks::Sent& sent, Timestamp now) {
  newest_acked_ = std::max(newest_acked_, sent.sent_at);
  const absl::Duration expected = sent.ack_times.expected;
  if (expected == absl::InfiniteDuration() || expected <= absl::ZeroDuration()) return;
  slowness_ += kSlownessWeight * (absl::FDivDuration(now - sent.sent_at, expected) - slowness_);
  slowness_ = std::max(1.0, slowness_);
}

Timestamp Hedger::HedgeAt(const LinkChunks::Sent& sent, std::optional<Round> waiting_round,
                          const ResendTimer& timer) const {
  if (!sent.chunk->is_direct() || sent.twin.has_value() || sent.ack_times.late == absl::InfiniteDuration())
    return kNever;
  const bool is_last_of_round = !waiting_round.has_value() || *waiting_round > sent.chunk->message.id.round;
  const bool is_overtaken = newest_acked_ - sent.sent_at > kOvertakenAfter * sent.ack_times.expected;
  if (is_last_of_round && is_overtaken) return newest_acked_;
  return (is_last_of_round ? sent.sent_at : timer.WaitsSince(sent.sent_at)) + sent.ack_times.late;
}

Timestamp Hedger::NextHedge(const LinkChunks& chunks, const ResendTimer& timer) const {
  Timestamp next = kNever;
  if (!chunks.connections().Idle().has_value()) return next;
  ForEachOldest(
      chunks, [&](const LinkChunks::Sent& sent) { next = std::min(next, HedgeAt(sent, chunks.head_round(), timer)); });
  return next;
}

std::vector<uint64_t> Hedger::Due(const LinkChunks& chunks, const ResendTimer& timer, Timestamp now) const {
  std::vector<uint64_t> due;
  ForEachOldest(chunks, [&](const LinkChunks::Sent& sent) {
    if (now >= HedgeAt(sent, chunks.head_round(), timer)) due.push_back(sent.link_sequence);
  });
  return due;
}

void Hedger::ForEachOldest(const LinkChunks& chunks, absl::FunctionRef<void(const LinkChunks::Sent&)> look) {
  int looked = 0;
  for (const auto& [sequence, sent] : chunks.sent()) {
    if (sent.twin.has_value()) continue;
    look(sent);
    if (++looked == kMostLooked) return;
  }
}

}  // namespace banyan
