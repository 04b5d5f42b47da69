// The part of PeerNetwork that chooses between the primary path and detours.
#include <algorithm>
#include <optional>
#include <utility>

#include "node/chunk_size.h"
#include "node/peer_network.h"

namespace banyan {
namespace {

// The meter is not asked with every chunk.
constexpr absl::Duration kMeterInterval = absl::Milliseconds(100);

void PutOn(ChunkMessage& message, const DetourSelector::Path& path, bool is_auxiliary) {
  message.route = {path, 0};
  message.is_auxiliary = is_auxiliary;
}

}  // namespace

void PeerNetwork::SendChunk(StepContext& step, ChunkMessage message, Payload payload) {
  tracker_.Add(message, payload);
  MaybeProbe(step, message, payload);
  HandToLink(step, std::move(message), std::move(payload), false);
  FillDetours(step);
}

void PeerNetwork::HandToLink(StepContext& step, ChunkMessage message, Payload payload, bool resend) {
  detours_.OnSent(message, WireBytes(message, payload), step.now);
  if (message.is_auxiliary) prober_.OnDetour(message.route.path, step.now);
  Neighbour& neighbour = neighbours_.at(message.route.receiver());
  neighbour.link.Enqueue(std::move(message), std::move(payload), resend);
  Pump(step, neighbour);
}

void PeerNetwork::Resend(StepContext& step, DeliveryTracker::Undelivered chunk) {
  if (chunk.message.is_auxiliary) return SendOnPrimary(step, std::move(chunk.message), std::move(chunk.payload));
  HandToLink(step, std::move(chunk.message), std::move(chunk.payload), true);
}

void PeerNetwork::SendOnPrimary(StepContext& step, ChunkMessage message, Payload payload) {
  DetourSelector::Path primary = detours_.PrimaryPath(message.policy, message.route.destination());
  if (IsNeighbour(primary[1])) PutOn(message, primary, false);
  tracker_.Reroute(message);
  HandToLink(step, std::move(message), std::move(payload), true);
}

bool PeerNetwork::HasRoom(NodeId neighbour) const {
  auto found = neighbours_.find(neighbour);
  return found != neighbours_.end() && found->second.link.HasRoom();
}

int64_t PeerNetwork::PrimaryLoad(const Neighbour& first, const ChunkMessage& message) const {
  const bool is_direct = message.route.path.size() == 2;
  return is_direct ? first.link.queued_bytes() + first.link.in_flight_bytes() : detours_.BytesOn(message.route.path);
}

void PeerNetwork::LookAtMeter(Neighbour& neighbour, Timestamp now) const {
  if (!detours_.has_detours() || now - neighbour.measured_at < kMeterInterval) return;
  neighbour.measured_at = now;
  neighbour.fastest_bps = neighbour.meter.FastestBps(now).value_or(0);
}

const DetourSelector::Path* PeerNetwork::DetourFor(const Neighbour& first, const ChunkMessage& message,
                                                   int64_t size_bytes, Timestamp now) const {
  const NodeId destination = message.route.destination();
  const int64_t load_bytes = first.link.IsStuck(now) ? DetourSelector::kStuck : PrimaryLoad(first, message);
  if (!detours_.IsPrimaryBusy(message.policy, destination, load_bytes)) return nullptr;
  return detours_.PickDetour(
      message.policy, destination, size_bytes, load_bytes, first.fastest_bps,
      [this](NodeId neighbour) { return HasRoom(neighbour); }, now);
}

void PeerNetwork::MaybeProbe(StepContext& step, const ChunkMessage& message, const Payload& payload) {
  if (!detours_.has_detours() || FrameBytes(message) == 0) return;
  const DetourSelector::Path* detour = prober_.Pick(
      message.policy, message.route.destination(), WireBytes(message, payload),
      [this](NodeId neighbour) { return HasRoom(neighbour); }, step.now);
  if (detour == nullptr) return;
  ChunkMessage copy = message;
  PutOn(copy, *detour, true);
  prober_.OnDetour(copy.route.path, step.now);
  Neighbour& first = neighbours_.at(copy.route.receiver());
  first.link.Enqueue(std::move(copy), payload);
  Pump(step, first);
}

void PeerNetwork::FillDetours(StepContext& step) {
  if (!detours_.has_detours()) return;
  // In the middle of a round no link could send at once; then queues need not be searched.
  const bool has_room = std::any_of(neighbours_.begin(), neighbours_.end(),
                                    [](const auto& entry) { return entry.second.link.HasRoom(); });
  if (!has_room) return;
  for (auto& [node, neighbour] : neighbours_) {
    const DetourSelector::Path* detour = nullptr;
    // What has found none: most chunks in a queue go to the same node, and none of them would.
    std::optional<std::pair<PolicyVersion, NodeId>> without;
    const auto wants = [&](const ChunkMessage& message, int64_t size_bytes) {
      const std::pair<PolicyVersion, NodeId> way(message.policy, message.route.destination());
      if (way == without) return false;
      detour = DetourFor(neighbour, message, size_bytes, step.now);
      if (detour == nullptr) without = way;
      return detour != nullptr;
    };
    while (neighbour.link.queued_bytes() > 0) {
      std::optional<PeerLink::Queued> chunk = neighbour.link.TakeForDetour(wants);
      if (!chunk.has_value()) break;
      PutOn(chunk->message, *detour, true);
      tracker_.Reroute(chunk->message);
      HandToLink(step, std::move(chunk->message), std::move(chunk->payload), chunk->resend);
    }
  }
}

void PeerNetwork::ReturnDetoured(StepContext& step, Neighbour& neighbour) {
  for (PeerLink::Queued& chunk : neighbour.link.TakeAuxiliary()) {
    if (chunk.message.route.hop == 0) {
      SendOnPrimary(step, std::move(chunk.message), std::move(chunk.payload));
      continue;
    }
    --chunk.message.route.hop;
    --relayed_chunks_.at(chunk.message.route.sender());
    AnswerBusy(step, chunk.message);
  }
  FillDetours(step);
}

}  // namespace banyan
