#include "node/peers/chunk_answers.h"

#include <utility>

namespace banyan {
namespace {

// Returns the way from the node that has received the chunk on its present hop back to its source.
SourceRoute WayBack(const SourceRoute& route) {
  SourceRoute back;
  back.path.assign(route.path.rend() - static_cast<std::ptrdiff_t>(route.hop) - 2, route.path.rend());
  return back;
}

}  // namespace

DeliveryAck DeliveryAckOf(const ChunkMessage& chunk) { return {WayBack(chunk.route), {chunk.id}}; }

Busy BusyOf(const ChunkMessage& chunk) { return {WayBack(chunk.route), {chunk.id}}; }

void DeniedSources::Add(const ChunkMessage& chunk) {
  const NodeId source = chunk.route.source();
  if (denied_.size() >= limit_ && !denied_.contains(source)) return;
  Denied& denied = denied_[source];
  denied.way_back = WayBack(chunk.route);
  if (chunks_ < kMostChunks && denied.chunks.insert(chunk.id).second) ++chunks_;
}

std::vector<Grant> DeniedSources::TakeGrants(absl::FunctionRef<bool(NodeId first)> has_room) {
  std::vector<Grant> grants;
  for (auto next = denied_.begin(); next != denied_.end();) {
    const auto entry = next++;
    if (!has_room(entry->second.way_back.receiver())) continue;
    grants.push_back({std::move(entry->second.way_back)});
    chunks_ -= entry->second.chunks.size();
    denied_.erase(entry);
  }
  return grants;
}

std::optional<Grant> DeniedSources::TakeGrant(NodeId source, const ChunkId& chunk) {
  const auto entry = denied_.find(source);
  if (entry == denied_.end() || entry->second.chunks.erase(chunk) == 0) return std::nullopt;
  --chunks_;
  return Grant{entry->second.way_back, {chunk}};
}

void DeniedSources::Clear() {
  denied_.clear();
  chunks_ = 0;
}

}  // namespace banyan
