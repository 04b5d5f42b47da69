#include "node/peers/relay.h"

#include <utility>

#include "node/chunk_size.h"
#include "node/link/peer_link.h"
#include "node/step_context.h"

namespace banyan {

std::optional<Busy> Relay::Forward(StepContext& step, NodeId from, ChunkMessage message, Payload payload) {
  Neighbour* next = neighbours_->Find(message.route.path[message.route.hop + 2]);
  if (next == nullptr) {
    step.rejections.Reject("chunk to be relayed to a node that is no neighbour", neighbours_->NameOf(from),
                           step.actions);
    return message.is_auxiliary ? std::optional<Busy>(BusyOf(message)) : std::nullopt;
  }
  if (message.is_auxiliary && !next->link.is_up()) return BusyOf(message);
  uint32_t& relayed = chunks_from_[from];
  trimmer_->OnChunk(message, step.now);
  bool has_room = relayed == 0 || HasRoomFor(message, payload);
  if (!has_room && trimmer_->CutToHeads(message, payload)) has_room = HasRoomFor(message, payload);
  if (!has_room) {
    if (!message.is_auxiliary) denied_.Add(message);
    return BusyOf(message);
  }
  ++relayed;
  ++message.route.hop;
  next->link.Enqueue(std::move(message), std::move(payload));
  neighbours_->Pump(step, *next);
  return std::nullopt;
}

bool Relay::HasRoomFor(const ChunkMessage& message, const Payload& payload) const {
  return size_bytes() + WireBytes(message, payload) <= limits_.size_bytes;
}

void Relay::OnForwarded(const ChunkMessage& chunk) { --chunks_from_.at(chunk.route.path[chunk.route.hop - 1]); }

Busy Relay::GiveUp(ChunkMessage chunk) {
  --chunk.route.hop;
  --chunks_from_.at(chunk.route.sender());
  return BusyOf(chunk);
}

std::vector<Grant> Relay::TakeGrants() {
  if (denied_.empty()) return {};
  // Half empty, so that a grant is worth its way.
  const bool is_half_empty = size_bytes() <= limits_.size_bytes / 2;
  return denied_.TakeGrants([&](NodeId first) { return is_half_empty || chunks_from_[first] == 0; });
}

void Relay::Clear() {
  denied_.Clear();
  chunks_from_.clear();
}

int64_t Relay::size_bytes() const {
  int64_t size_bytes = 0;
  for (const auto& [node, neighbour] : *neighbours_) size_bytes += neighbour.link.relayed_bytes();
  return size_bytes;
}

}  // namespace banyan
