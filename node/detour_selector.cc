#include "node/detour_selector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/bandwidth_delay.h"
#include "core/buffer.h"
#include "node/peer_link.h"

namespace banyan {
namespace {

// Measured times of a detour say nothing about later than this.
constexpr absl::Duration kLatencyMemory = absl::Seconds(2);

absl::Duration TimeFor(int64_t size_bytes, double rate_bps) {
  return rate_bps > 0 ? absl::Seconds(8.0 * static_cast<double>(size_bytes) / rate_bps) : absl::ZeroDuration();
}

// The bandwidth-delay product in whole chunks, and `chunks` more: a part of a chunk can never be on its way.
int64_t LimitBytes(const RouteSlice& way, uint32_t chunks, int64_t chunk_bytes) {
  const int64_t wire_bytes = std::max<int64_t>(1, WireBytes(chunk_bytes, way.path.size()));
  const int64_t full = (BandwidthDelayBytes(way.rate_bps, way.round_trip) + wire_bytes - 1) / wire_bytes;
  return (full + chunks) * wire_bytes;
}

}  // namespace

void DetourSelector::AddPolicy(const PolicySlice& slice) {
  auto [entry, added] = policies_.try_emplace(slice.version);
  if (!added) return;
  const TransmissionSettings& settings = slice.transmission;
  const int64_t chunk_bytes = slice.chunk_max_elements * SizeOf(DataType::kFloat32);
  Policy& policy = entry->second;
  policy.measures = settings.measures;
  const auto make_way = [chunk_bytes](const RouteSlice& from, uint32_t chunks, bool is_planned) {
    return Way{.path = from.path,
               .limit_bytes = LimitBytes(from, chunks, chunk_bytes),
               .rate_bps = from.rate_bps,
               .planned_bps = from.rate_bps,
               .delay = from.round_trip / 2,
               .is_planned = is_planned,
               .is_spare = from.spare >= kLeastSpare,
               .crosses_idle_link = from.crosses_idle_link};
  };
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const RouteSlice link = {{self_, neighbour.node}, neighbour.rate_bps, neighbour.round_trip};
    Way& primary = policy.ways[neighbour.node].primary;
    primary = make_way(link, settings.primary_busy_bound, true);
    if (neighbour.capped_bps.has_value()) primary.planned_bps = kLeastOfCap * *neighbour.capped_bps;
  }
  for (const RouteSlice& route : slice.routes) {
    Way primary = make_way(route, settings.primary_busy_bound, true);
    // The meter that tells whether it is slow is that of its first link.
    const auto first = policy.ways.find(route.path[1]);
    if (first != policy.ways.end()) primary.planned_bps = std::min(route.rate_bps, first->second.primary.planned_bps);
    policy.ways[route.path.back()].primary = std::move(primary);
  }
  if (!settings.uses_detours) return;
  has_detours_ = has_detours_ || !slice.auxiliary.empty();
  for (const RouteSlice& detour : slice.auxiliary) {
    policy.ways[detour.path.back()].detours.push_back(
        make_way(detour, settings.auxiliary_queue_length, detour.share > 0));
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
  for (auto latency = latencies_.begin(); latency != latencies_.end();) {
    latency = last_used_.count(latency->first) > 0 ? std::next(latency) : latencies_.erase(latency);
  }
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

std::optional<int64_t> DetourSelector::PrimaryLimit(PolicyVersion policy, NodeId neighbour) const {
  const Ways* ways = Find(policy, neighbour);
  if (ways == nullptr || ways->primary.path.size() != 2) return std::nullopt;
  const bool shares =
      std::any_of(ways->detours.begin(), ways->detours.end(), [](const Way& way) { return way.is_planned; });
  if (!shares) return std::nullopt;
  return ways->primary.limit_bytes;
}

// Every relay takes a chunk whole before it sends it on.
absl::Duration DetourSelector::ExpectedTime(const Way& detour, int64_t size_bytes, Timestamp now) const {
  const auto hops = static_cast<int64_t>(detour.path.size()) - 1;
  const absl::Duration unloaded = detour.delay + TimeFor(BytesOn(detour.path) + hops * size_bytes, detour.rate_bps);
  const auto seen = latencies_.find(detour.path);
  if (seen == latencies_.end() || now - seen->second.seen_at > kLatencyMemory) return unloaded;
  return std::max(unloaded, seen->second.smoothed);
}

bool DetourSelector::IsSooner(const Ways& ways, const Way& detour, int64_t size_bytes, int64_t load_bytes,
                              Timestamp now) const {
  if (load_bytes >= kStuck) return true;
  return ExpectedTime(detour, size_bytes, now) < ways.primary.delay + TimeFor(load_bytes, ways.primary.rate_bps);
}

const DetourSelector::Path* DetourSelector::PickDetour(PolicyVersion policy, NodeId destination, int64_t size_bytes,
                                                       int64_t load_bytes, double fastest_bps, const HasRoom& has_room,
                                                       Timestamp now) const {
  const Ways* ways = Find(policy, destination);
  if (ways == nullptr) return nullptr;
  const Way& primary = ways->primary;
  const bool is_slow = fastest_bps > 0 && fastest_bps < kAsPlanned * primary.planned_bps;
  const bool is_very_slow = is_slow && fastest_bps < kHardlyAsPlanned * primary.planned_bps;
  for (const Way& detour : ways->detours) {
    const bool fits = BytesOn(detour.path) + size_bytes <= detour.limit_bytes;
    const bool is_wanted = detour.is_planned || (is_slow && detour.is_spare) || is_very_slow || load_bytes >= kStuck;
    if (!fits || !is_wanted || !has_room(detour.path[1])) continue;
    if (IsSooner(*ways, detour, size_bytes, load_bytes, now)) return &detour.path;
  }
  return nullptr;
}

void DetourSelector::OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now) {
  auto arrived = on_their_way_.find({destination, chunk});
  if (arrived == on_their_way_.end()) return;
  const absl::Duration took = now - arrived->second.sent_at;
  auto [latency, is_new] = latencies_.try_emplace(arrived->second.path, Latency{took, now});
  latency->second.smoothed += (took - latency->second.smoothed) / 4;
  latency->second.seen_at = now;
  OnDone(destination, chunk);
}

const DetourSelector::Path* DetourSelector::PickProbe(PolicyVersion policy, NodeId destination, int64_t size_bytes,
                                                      int64_t load_bytes, const HasRoom& has_room, Timestamp now) {
  // The chunks of one probe follow each other, so that their distance at the receiver tells the rate.
  const bool goes_on = probe_chunks_left_ > 0 && probed_ != nullptr && probed_policy_ == policy;
  if (goes_on && probed_->back() == destination && has_room((*probed_)[1])) {
    --probe_chunks_left_;
    return probed_;
  }
  if (now < next_probe_) return nullptr;
  const Ways* ways = Find(policy, destination);
  if (ways == nullptr || !policies_.at(policy).measures) return nullptr;
  const Way* longest_idle = nullptr;
  Timestamp idle_since = now;
  for (const Way& detour : ways->detours) {
    if (!detour.crosses_idle_link) continue;
    auto used = last_used_.try_emplace(detour.path, now).first;
    const absl::Duration idle = now - used->second;
    if (idle < kProbeInterval || used->second >= idle_since || !has_room(detour.path[1])) continue;
    if (idle < kProbePatience && !IsSooner(*ways, detour, size_bytes, load_bytes, now)) continue;
    longest_idle = &detour;
    idle_since = used->second;
  }
  if (longest_idle == nullptr) return nullptr;
  next_probe_ = now + kProbeInterval;
  probed_policy_ = policy;
  probed_ = &longest_idle->path;
  probe_chunks_left_ = kProbeChunks - 1;
  return probed_;
}

void DetourSelector::OnSent(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now) {
  const NodeId destination = chunk.route.destination();
  OnDone(destination, chunk.id);
  if (chunk.is_auxiliary) last_used_[chunk.route.path] = now;
  if (chunk.route.path.size() == 2) return;
  on_their_way_.emplace(std::make_pair(destination, chunk.id), OnItsWay{chunk.route.path, size_bytes, now});
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
