#include "node/detour_selector.h"

#include <algorithm>

#include "core/buffer.h"

namespace banyan {
namespace {

// A chunk's header with a long path.
constexpr int64_t kMostHeaderBytes = 128;

int64_t LimitBytes(double rate_bps, absl::Duration round_trip, uint32_t chunks, int64_t chunk_bytes) {
  const double bandwidth_delay_bytes = rate_bps / 8 * absl::ToDoubleSeconds(round_trip);
  return static_cast<int64_t>(bandwidth_delay_bytes) + chunks * (chunk_bytes + kMostHeaderBytes);
}

}  // namespace

void DetourSelector::AddPolicy(const PolicySlice& slice) {
  auto [entry, added] = policies_.try_emplace(slice.version);
  if (!added) return;
  const TransmissionSettings& settings = slice.transmission;
  const int64_t chunk_bytes = slice.chunk_max_elements * SizeOf(DataType::kFloat32);
  Policy& policy = entry->second;
  policy.measures = settings.measures;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    policy.ways[neighbour.node].primary = {
        {self_, neighbour.node},
        LimitBytes(neighbour.rate_bps, neighbour.round_trip, settings.primary_busy_bound, chunk_bytes)};
  }
  for (const RouteSlice& route : slice.routes) {
    policy.ways[route.path.back()].primary = {
        route.path, LimitBytes(route.rate_bps, route.round_trip, settings.primary_busy_bound, chunk_bytes)};
  }
  if (!settings.uses_detours) return;
  has_detours_ = has_detours_ || !slice.auxiliary.empty();
  for (const RouteSlice& detour : slice.auxiliary) {
    policy.ways[detour.path.back()].detours.push_back(
        {detour.path, LimitBytes(detour.rate_bps, detour.round_trip, settings.auxiliary_queue_length, chunk_bytes)});
  }
}

void DetourSelector::RetirePolicies(PolicyVersion oldest) {
  policies_.erase(policies_.begin(), policies_.lower_bound(oldest));
  probed_ = nullptr;
  // What no live policy names is never used again.
  std::map<Path, Timestamp> still_used;
  for (const auto& [version, policy] : policies_) {
    for (const auto& [destination, ways] : policy.ways) {
      for (const Way& detour : ways.detours) {
        auto used = last_used_.find(detour.path);
        if (used != last_used_.end()) still_used.insert(*used);
      }
    }
  }
  last_used_ = std::move(still_used);
}

const DetourSelector::Ways* DetourSelector::Find(PolicyVersion policy, NodeId destination) const {
  auto found = policies_.find(policy);
  if (found == policies_.end()) return nullptr;
  auto ways = found->second.ways.find(destination);
  return ways == found->second.ways.end() ? nullptr : &ways->second;
}

DetourSelector::Path DetourSelector::PrimaryPath(PolicyVersion policy, NodeId destination) const {
  const Ways* ways = Find(policy, destination);
  return ways == nullptr || ways->primary.path.empty() ? Path{self_, destination} : ways->primary.path;
}

bool DetourSelector::IsPrimaryBusy(PolicyVersion policy, NodeId destination, int64_t load_bytes) const {
  const Ways* ways = Find(policy, destination);
  return ways != nullptr && !ways->detours.empty() && load_bytes > ways->primary.limit_bytes;
}

const DetourSelector::Path* DetourSelector::PickDetour(PolicyVersion policy, NodeId destination, int64_t size_bytes,
                                                       const HasRoom& has_room) const {
  const Ways* ways = Find(policy, destination);
  if (ways == nullptr) return nullptr;
  for (const Way& detour : ways->detours) {
    const bool fits = BytesOn(detour.path) + size_bytes <= detour.limit_bytes;
    if (fits && has_room(detour.path[1])) return &detour.path;
  }
  return nullptr;
}

const DetourSelector::Path* DetourSelector::PickProbe(PolicyVersion policy, NodeId destination, const HasRoom& has_room,
                                                      Timestamp now) {
  // The chunks of one probe follow each other, so that their distance at the receiver tells the rate.
  if (probe_chunks_left_ > 0 && probed_ != nullptr && probed_->back() == destination && has_room((*probed_)[1])) {
    --probe_chunks_left_;
    return probed_;
  }
  if (now < next_probe_) return nullptr;
  const Ways* ways = Find(policy, destination);
  if (ways == nullptr || !policies_.at(policy).measures) return nullptr;
  const Way* longest_idle = nullptr;
  Timestamp idle_since = now;
  for (const Way& detour : ways->detours) {
    auto used = last_used_.try_emplace(detour.path, now).first;
    if (now - used->second < kProbeInterval || used->second >= idle_since || !has_room(detour.path[1])) continue;
    longest_idle = &detour;
    idle_since = used->second;
  }
  if (longest_idle == nullptr) return nullptr;
  next_probe_ = now + kProbeInterval;
  probed_ = &longest_idle->path;
  probe_chunks_left_ = kProbeChunks - 1;
  return probed_;
}

void DetourSelector::OnSent(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now) {
  const NodeId destination = chunk.route.destination();
  OnDone(destination, chunk.id);
  if (chunk.is_auxiliary) last_used_[chunk.route.path] = now;
  if (chunk.route.path.size() == 2) return;
  on_their_way_.emplace(std::make_pair(destination, chunk.id), OnItsWay{chunk.route.path, size_bytes});
  bytes_on_[chunk.route.path] += size_bytes;
}

void DetourSelector::OnDone(NodeId destination, const ChunkId& chunk) {
  auto done = on_their_way_.find({destination, chunk});
  if (done == on_their_way_.end()) return;
  auto bytes = bytes_on_.find(done->second.path);
  bytes->second -= done->second.size_bytes;
  if (bytes->second == 0) bytes_on_.erase(bytes);
  on_their_way_.erase(done);
}

void DetourSelector::Clear() {
  on_their_way_.clear();
  bytes_on_.clear();
}

int64_t DetourSelector::BytesOn(const Path& path) const {
  auto bytes = bytes_on_.find(path);
  return bytes == bytes_on_.end() ? 0 : bytes->second;
}

}  // namespace banyan
