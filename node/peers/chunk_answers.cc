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
  if (ways_back_.size() >= limit_ && ways_back_.count(source) == 0) return;
  ways_back_[source] = WayBack(chunk.route);
}

std::vector<Grant> DeniedSources::TakeGrants(absl::FunctionRef<bool(NodeId first)> has_room) {
  std::vector<Grant> grants;
  for (auto next = ways_back_.begin(); next != ways_back_.end();) {
    const auto denied = next++;
    if (!has_room(denied->second.receiver())) continue;
    grants.push_back({std::move(denied->second)});
    ways_back_.erase(denied);
  }
  return grants;
}

}  // namespace banyan
