#include "node/peers/chunk_sender.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "node/chunk_size.h"
#include "node/link/peer_link.h"

namespace banyan {
namespace {

// The meter is not asked with every chunk.
constexpr absl::Duration kMeterInterval = absl::Milliseconds(100);

}  // namespace

void ChunkSender::AddPolicy(const PolicySlice& slice) {
  selector_.AddPolicy(slice);
  prober_.AddPolicy(slice);
}

void ChunkSender::RetirePolicies(PolicyVersion oldest) {
  selector_.RetirePolicies(oldest);
  prober_.RetirePolicies(oldest);
}

void ChunkSender::Send(StepContext& step, ChunkMessage message, Payload payload) {
  const auto chunk = std::make_shared<ChunkInFlight>(std::move(message), std::move(payload));
  tracker_.Add(chunk);
  MaybeProbe(step, *chunk);
  HandToLink(step, chunk, /*resend=*/false);
  Fill(step);
}

void ChunkSender::PutOn(ChunkInFlight& chunk, const Path& path, bool is_auxiliary) {
  selector_.OnDone(chunk);
  chunk.message.route = {path, 0};
  chunk.message.is_auxiliary = is_auxiliary;
}

void ChunkSender::HandToLink(StepContext& step, const ChunkPtr& chunk, bool resend) {
  // Closed, since no policy in force names it: what had to go there is of a round that is over.
  Neighbour* first = neighbours_->Find(chunk->message.route.receiver());
  if (first == nullptr) return;
  selector_.OnDone(*chunk);
  if (chunk->delivery != ChunkInFlight::Delivery::kNobodyWaits) selector_.OnSent(*chunk, step.now);
  if (chunk->message.is_auxiliary) prober_.OnAuxiliaryPath(chunk->message.route.path, step.now);
  first->link.Enqueue(chunk, resend);
  neighbours_->Pump(step, *first);
}

void ChunkSender::SendOnPrimary(StepContext& step, const ChunkPtr& chunk) {
  if (chunk->delivery == ChunkInFlight::Delivery::kNobodyWaits) return;
  const Path primary = selector_.PrimaryPath(chunk->message.policy, chunk->message.route.destination());
  if (neighbours_->Find(primary[1]) != nullptr) PutOn(*chunk, primary, false);
  HandToLink(step, chunk, /*resend=*/true);
}

void ChunkSender::Resend(StepContext& step, const std::vector<ChunkPtr>& chunks) {
  for (const ChunkPtr& chunk : chunks) {
    if (chunk->message.is_auxiliary) {
      SendOnPrimary(step, chunk);
    } else {
      HandToLink(step, chunk, /*resend=*/true);
    }
  }
}

void ChunkSender::ResendOverdue(StepContext& step) { Resend(step, tracker_.TakeOverdue(step.now)); }

void ChunkSender::OnLinkAck(ChunkInFlight& chunk, bool is_delivered, Timestamp now) {
  tracker_.OnLinkAck(chunk, now);
  if (is_delivered && chunk.is_direct()) OnDelivered(chunk.message.route.destination(), chunk.message.id, now);
}

void ChunkSender::OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now) {
  const ChunkPtr delivered = tracker_.OnDeliveryAck(destination, chunk, now);
  if (delivered != nullptr) selector_.OnDelivered(*delivered, now);
}

void ChunkSender::OnBusy(StepContext& step, const Busy& busy) {
  const NodeId refuser = busy.route.source();
  for (const ChunkId& chunk : busy.chunks) {
    for (const ChunkPtr& refused : tracker_.TakeAuxiliary(refuser, chunk)) {
      selector_.OnRefused(refused->message.route.path, step.now);
      SendOnPrimary(step, refused);
    }
    tracker_.OnBusy(refuser, chunk, step.now);
  }
}

void ChunkSender::OnGrant(StepContext& step, const Grant& grant) {
  Resend(step, tracker_.OnGrant(grant.route.source(), grant.chunks));
}

void ChunkSender::DropRound(KeyId key, Round round) {
  for (const ChunkPtr& chunk : tracker_.DropRound(key, round)) selector_.OnDone(*chunk);
}

void ChunkSender::Clear() {
  tracker_.Clear();
  selector_.Clear();
}

void ChunkSender::MaybeProbe(StepContext& step, const ChunkInFlight& chunk) {
  if (!selector_.has_auxiliary_paths() || FrameBytes(chunk.message) == 0) return;
  const Path* path = prober_.Pick(
      chunk.message.policy, chunk.message.route.destination(), WireBytes(chunk.message, chunk.payload),
      [this](NodeId node) { return HasRoom(node); }, step.now);
  if (path == nullptr) return;
  ChunkMessage copy = chunk.message;
  copy.route = {*path, 0};
  copy.is_auxiliary = true;
  prober_.OnAuxiliaryPath(copy.route.path, step.now);
  Neighbour& first = neighbours_->At(copy.route.receiver());
  first.link.Enqueue(std::move(copy), chunk.payload);
  neighbours_->Pump(step, first);
}

void ChunkSender::Fill(StepContext& step) {
  if (!selector_.has_auxiliary_paths()) return;
  // In the middle of a round no link could send at once; then queues need not be searched.
  const bool has_room = std::any_of(neighbours_->begin(), neighbours_->end(),
                                    [](const auto& entry) { return entry.second.link.HasRoom(); });
  if (!has_room) return;
  for (auto& [node, neighbour] : *neighbours_) FillFrom(step, neighbour);
}

void ChunkSender::FillFrom(StepContext& step, Neighbour& first) {
  const Path* path = nullptr;
  // What has found none: most chunks in a queue go to the same node, and none of them would.
  std::optional<std::pair<PolicyVersion, NodeId>> without;
  const bool is_stuck = first.link.IsStuck(step.now);
  const auto wants = [&](const ChunkInFlight& chunk) {
    const std::pair<PolicyVersion, NodeId> way(chunk.message.policy, chunk.message.route.destination());
    const bool is_awaited = chunk.delivery != ChunkInFlight::Delivery::kNobodyWaits;
    if (way == without || !is_awaited || (chunk.resend && !is_stuck)) return false;
    path = PathFor(first, is_stuck, chunk, step.now);
    if (path == nullptr) without = way;
    return path != nullptr;
  };
  while (first.link.queued_bytes() > 0) {
    const ChunkPtr chunk = first.link.TakeForAuxiliaryPath(wants);
    if (chunk == nullptr) return;
    PutOn(*chunk, *path, true);
    HandToLink(step, chunk, chunk->resend);
  }
}

const ChunkSender::Path* ChunkSender::PathFor(const Neighbour& first, bool is_stuck, const ChunkInFlight& chunk,
                                              Timestamp now) const {
  const NodeId destination = chunk.message.route.destination();
  const int64_t load_bytes = is_stuck ? AuxiliarySelector::kStuck : PrimaryLoad(first, chunk);
  if (!selector_.IsPrimaryBusy(chunk.message.policy, destination, load_bytes)) return nullptr;
  return selector_.PickPath(
      chunk.message.policy, destination, chunk.size_bytes, load_bytes, first.fastest_bps,
      [this](NodeId node) { return HasRoom(node); }, now);
}

int64_t ChunkSender::PrimaryLoad(const Neighbour& first, const ChunkInFlight& chunk) const {
  return chunk.is_direct() ? first.link.queued_bytes() + first.link.in_flight_bytes()
                           : selector_.BytesOn(chunk.message.route.path);
}

bool ChunkSender::HasRoom(NodeId node) const {
  const Neighbour* neighbour = neighbours_->Find(node);
  return neighbour != nullptr && neighbour->link.HasRoom();
}

void ChunkSender::LookAtMeter(Neighbour& neighbour, Timestamp now) const {
  if (!selector_.has_auxiliary_paths() || now - neighbour.measured_at < kMeterInterval) return;
  neighbour.measured_at = now;
  neighbour.fastest_bps = neighbour.meter.FastestBps(now).value_or(0);
}

}  // namespace banyan
