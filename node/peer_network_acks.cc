// The part of PeerNetwork that acknowledges, and hears what others acknowledge, refuse and grant.
#include <algorithm>
#include <optional>
#include <utility>

#include "node/chunk_size.h"
#include "node/peer_network.h"

namespace banyan {

void PeerNetwork::Acknowledge(StepContext& step, NodeId from, const LinkAck::Entry& receipt, bool may_wait) {
  Neighbour& neighbour = neighbours_.at(from);
  if (std::optional<LinkAck> acks = neighbour.acks.Add(receipt, may_wait, step.now)) {
    return Transmit(step, neighbour, *std::move(acks));
  }
  next_acks_ = std::min(next_acks_, neighbour.acks.deadline());
}

void PeerNetwork::SendDueAcks(StepContext& step) {
  next_acks_ = kNever;
  for (auto& [node, neighbour] : neighbours_) {
    if (neighbour.acks.deadline() <= step.now) Transmit(step, neighbour, *neighbour.acks.Take());
    next_acks_ = std::min(next_acks_, neighbour.acks.deadline());
  }
}

void PeerNetwork::OnLinkAck(StepContext& step, NodeId from, const LinkAck& ack) {
  Neighbour& neighbour = neighbours_.at(from);
  for (const LinkAck::Entry& entry : ack.entries) {
    const std::optional<ChunkMessage> chunk = neighbour.link.OnLinkAck(entry.link_sequence, step.now);
    if (!chunk.has_value()) continue;
    if (transmission_.measures) {
      neighbour.meter.OnAck({FrameBytes(*chunk), chunk->sent_at, entry.received_at, chunk->is_auxiliary}, step.now);
    }
    if (chunk->route.hop > 0) {
      --relayed_chunks_.at(chunk->route.path[chunk->route.hop - 1]);
      continue;
    }
    tracker_.OnLinkAck(*chunk, step.now);
    if (entry.is_delivered && chunk->route.destination() == from) OnDelivered(step, from, chunk->id);
  }
  if (transmission_.measures) LookAtMeter(neighbour, step.now);
  Pump(step, neighbour);
  FillDetours(step);
  if (!denied_relays_.empty()) GrantRelayRoom(step);
}

void PeerNetwork::Arrived(StepContext& step, const DeliveryAck& ack) {
  for (const ChunkId& chunk : ack.chunks) OnDelivered(step, ack.route.source(), chunk);
  FillDetours(step);
}

void PeerNetwork::OnDelivered(StepContext& step, NodeId destination, const ChunkId& chunk) {
  tracker_.OnDeliveryAck(destination, chunk, step.now);
  detours_.OnDelivered(destination, chunk, step.now);
}

void PeerNetwork::Arrived(StepContext& step, const Busy& busy) {
  for (const ChunkId& chunk : busy.chunks) {
    for (DeliveryTracker::Undelivered& detoured : tracker_.TakeDetoured(busy.route.source(), chunk)) {
      SendOnPrimary(step, std::move(detoured.message), std::move(detoured.payload));
    }
    tracker_.OnBusy(busy.route.source(), chunk, step.now);
  }
}

void PeerNetwork::Arrived(StepContext& step, const Grant& grant) {
  for (DeliveryTracker::Undelivered& chunk : tracker_.OnGrant(grant.route.source())) Resend(step, std::move(chunk));
}

}  // namespace banyan
