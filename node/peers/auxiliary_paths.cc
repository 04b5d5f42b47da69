#include "node/peers/auxiliary_paths.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "node/chunk_size.h"
#include "node/link/peer_link.h"

namespace banyan {
namespace {

// The meter is not asked with every chunk.
constexpr absl::Duration kMeterInterval = absl::Milliseconds(100);

void PutOn(ChunkMessage& message, const AuxiliarySelector::Path& path, bool is_auxiliary) {
  message.route = {path, 0};
  message.is_auxiliary = is_auxiliary;
}

}  // namespace

void AuxiliaryPaths::AddPolicy(const PolicySlice& slice) {
  selector_.AddPolicy(slice);
  prober_.AddPolicy(slice);
}

void AuxiliaryPaths::RetirePolicies(PolicyVersion oldest) {
  selector_.RetirePolicies(oldest);
  prober_.RetirePolicies(oldest);
}

void AuxiliaryPaths::Send(StepContext& step, ChunkMessage message, Payload payload) {
  MaybeProbe(step, message, payload);
  HandToLink(step, std::move(message), std::move(payload), false);
  Fill(step);
}

void AuxiliaryPaths::HandToLink(StepContext& step, ChunkMessage message, Payload payload, bool resend) {
  // Closed, since no policy in force names it: what had to go there is of a round that is over.
  Neighbour* first = neighbours_->Find(message.route.receiver());
  if (first == nullptr) return;
  selector_.OnSent(message, WireBytes(message, payload), step.now);
  if (message.is_auxiliary) prober_.OnAuxiliaryPath(message.route.path, step.now);
  first->link.Enqueue(std::move(message), std::move(payload), resend);
  neighbours_->Pump(step, *first);
}

void AuxiliaryPaths::Resend(StepContext& step, DeliveryTracker::Undelivered chunk) {
  if (chunk.message.is_auxiliary) return SendOnPrimary(step, std::move(chunk.message), std::move(chunk.payload));
  HandToLink(step, std::move(chunk.message), std::move(chunk.payload), true);
}

void AuxiliaryPaths::OnRefused(StepContext& step, DeliveryTracker::Undelivered chunk) {
  selector_.OnRefused(chunk.message.route.path, step.now);
  SendOnPrimary(step, std::move(chunk.message), std::move(chunk.payload));
}

void AuxiliaryPaths::SendOnPrimary(StepContext& step, ChunkMessage message, Payload payload) {
  const Path primary = selector_.PrimaryPath(message.policy, message.route.destination());
  if (neighbours_->Find(primary[1]) != nullptr) PutOn(message, primary, false);
  tracker_->Reroute(message);
  HandToLink(step, std::move(message), std::move(payload), true);
}

void AuxiliaryPaths::MaybeProbe(StepContext& step, const ChunkMessage& message, const Payload& payload) {
  if (!selector_.has_auxiliary_paths() || FrameBytes(message) == 0) return;
  const Path* path = prober_.Pick(
      message.policy, message.route.destination(), WireBytes(message, payload),
      [this](NodeId node) { return HasRoom(node); }, step.now);
  if (path == nullptr) return;
  ChunkMessage copy = message;
  PutOn(copy, *path, true);
  prober_.OnAuxiliaryPath(copy.route.path, step.now);
  Neighbour& first = neighbours_->At(copy.route.receiver());
  first.link.Enqueue(std::move(copy), payload);
  neighbours_->Pump(step, first);
}

void AuxiliaryPaths::Fill(StepContext& step) {
  if (!selector_.has_auxiliary_paths()) return;
  // In the middle of a round no link could send at once; then queues need not be searched.
  const bool has_room = std::any_of(neighbours_->begin(), neighbours_->end(),
                                    [](const auto& entry) { return entry.second.link.HasRoom(); });
  if (!has_room) return;
  for (auto& [node, neighbour] : *neighbours_) FillFrom(step, neighbour);
}

void AuxiliaryPaths::FillFrom(StepContext& step, Neighbour& first) {
  const Path* path = nullptr;
  // What has found none: most chunks in a queue go to the same node, and none of them would.
  std::optional<std::pair<PolicyVersion, NodeId>> without;
  const bool is_stuck = first.link.IsStuck(step.now);
  const auto wants = [&](const PeerLink::Queued& chunk) {
    const std::pair<PolicyVersion, NodeId> way(chunk.message.policy, chunk.message.route.destination());
    if (way == without || (chunk.resend && !is_stuck)) return false;
    path = PathFor(first, is_stuck, chunk, step.now);
    if (path == nullptr) without = way;
    return path != nullptr;
  };
  while (first.link.queued_bytes() > 0) {
    std::optional<PeerLink::Queued> chunk = first.link.TakeForAuxiliaryPath(wants);
    if (!chunk.has_value()) return;
    PutOn(chunk->message, *path, true);
    tracker_->Reroute(chunk->message);
    HandToLink(step, std::move(chunk->message), std::move(chunk->payload), chunk->resend);
  }
}

const AuxiliaryPaths::Path* AuxiliaryPaths::PathFor(const Neighbour& first, bool is_stuck,
                                                    const PeerLink::Queued& chunk, Timestamp now) const {
  const ChunkMessage& message = chunk.message;
  const NodeId destination = message.route.destination();
  const int64_t load_bytes = is_stuck ? AuxiliarySelector::kStuck : PrimaryLoad(first, message);
  if (!selector_.IsPrimaryBusy(message.policy, destination, load_bytes)) return nullptr;
  return selector_.PickPath(
      message.policy, destination, chunk.size_bytes, load_bytes, first.fastest_bps,
      [this](NodeId node) { return HasRoom(node); }, now);
}

int64_t AuxiliaryPaths::PrimaryLoad(const Neighbour& first, const ChunkMessage& message) const {
  const bool is_direct = message.route.path.size() == 2;
  return is_direct ? first.link.queued_bytes() + first.link.in_flight_bytes() : selector_.BytesOn(message.route.path);
}

bool AuxiliaryPaths::HasRoom(NodeId node) const {
  const Neighbour* neighbour = neighbours_->Find(node);
  return neighbour != nullptr && neighbour->link.HasRoom();
}

void AuxiliaryPaths::OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now) {
  selector_.OnDelivered(destination, chunk, now);
}

void AuxiliaryPaths::LookAtMeter(Neighbour& neighbour, Timestamp now) const {
  if (!selector_.has_auxiliary_paths() || now - neighbour.measured_at < kMeterInterval) return;
  neighbour.measured_at = now;
  neighbour.fastest_bps = neighbour.meter.FastestBps(now).value_or(0);
}

}  // namespace banyan
