#include "node/peers/auxiliary_selector.h"

#include <algorithm>
#include <utility>

#include "core/buffer.h"
#include "core/units.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

// The measured time of a path says nothing about later than this.
constexpr absl::Duration kLatencyMemory = absl::Seconds(2);

absl::Duration TimeFor(int64_t size_bytes, double rate_bps) {
  return rate_bps > 0 ? absl::Seconds(8.0 * static_cast<double>(size_bytes) / rate_bps) : absl::ZeroDuration();
}

// Returns the bandwidth-delay product in whole chunks, and `chunks` more: a part of a chunk can never be on its way.
int64_t LimitBytes(const RouteSlice& way, uint32_t chunks, int64_t chunk_bytes) {
  const int64_t wire_bytes = std::max<int64_t>(1, WireBytes(chunk_bytes, way.path.size()));
  const int64_t full = (BandwidthDelayBytes(way.rate_bps, way.round_trip) + wire_bytes - 1) / wire_bytes;
  return (full + chunks) * wire_bytes;
}

}  // namespace

void AuxiliarySelector::AddPolicy(const PolicySlice& slice) {
  auto [entry, added] = policies_.try_emplace(slice.version);
  if (!added) return;
  const TransmissionSettings& settings = slice.transmission;
  const int64_t chunk_bytes = slice.chunk_max_elements * SizeOf(DataType::kFloat32);
  std::map<NodeId, Ways>& ways = entry->second;
  const auto make_way = [chunk_bytes](const RouteSlice& from, uint32_t chunks, bool is_planned) {
    return Way{.path = from.path,
               .limit_bytes = LimitBytes(from, chunks, chunk_bytes),
               .rate_bps = from.rate_bps,
               .planned_bps = from.rate_bps,
               .delay = from.round_trip / 2,
               .is_planned = is_planned,
               .is_spare = from.spare >= kLeastSpare};
  };
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const RouteSlice link = {{self_, neighbour.node}, neighbour.rate_bps, neighbour.round_trip};
    Way& primary = ways[neighbour.node].primary;
    primary = make_way(link, settings.primary_busy_bound, true);
    if (neighbour.capped_bps.has_value()) primary.planned_bps = kLeastOfCap * *neighbour.capped_bps;
  }
  for (const RouteSlice& route : slice.routes) {
    Way primary = make_way(route, settings.primary_busy_bound, true);
    // The meter that tells whether it is slow is that of its first link.
    const auto first = ways.find(route.path[1]);
    if (first != ways.end()) primary.planned_bps = std::min(route.rate_bps, first->second.primary.planned_bps);
    ways[route.path.back()].primary = std::move(primary);
  }
  if (!settings.uses_auxiliary_paths) return;
  has_auxiliary_paths_ = has_auxiliary_paths_ || !slice.auxiliary.empty();
  for (const RouteSlice& auxiliary_path : slice.auxiliary) {
    ways[auxiliary_path.path.back()].auxiliary_paths.push_back(
        make_way(auxiliary_path, settings.auxiliary_queue_length, auxiliary_path.share > 0));
  }
}

void AuxiliarySelector::RetirePolicies(PolicyVersion oldest) {
  policies_.erase(policies_.begin(), policies_.lower_bound(oldest));
  // What they were under other trees says little.
  latencies_.clear();
  refusals_.clear();
}

const AuxiliarySelector::Ways* AuxiliarySelector::Find(PolicyVersion policy, NodeId destination) const {
  auto found = policies_.find(policy);
  if (found == policies_.end()) return nullptr;
  auto ways = found->second.find(destination);
  return ways == found->second.end() ? nullptr : &ways->second;
}

AuxiliarySelector::Path AuxiliarySelector::PrimaryPath(PolicyVersion policy, NodeId destination) const {
  const Ways* ways = Find(policy, destination);
  return ways == nullptr || ways->primary.path.empty() ? Path{self_, destination} : ways->primary.path;
}

bool AuxiliarySelector::IsPrimaryBusy(PolicyVersion policy, NodeId destination, int64_t load_bytes) const {
  const Ways* ways = Find(policy, destination);
  return ways != nullptr && !ways->auxiliary_paths.empty() && load_bytes > ways->primary.limit_bytes;
}

std::optional<int64_t> AuxiliarySelector::PrimaryLimit(PolicyVersion policy, NodeId neighbour) const {
  const Ways* ways = Find(policy, neighbour);
  if (ways == nullptr || ways->primary.path.size() != 2) return std::nullopt;
  const bool shares = std::any_of(ways->auxiliary_paths.begin(), ways->auxiliary_paths.end(),
                                  [](const Way& way) { return way.is_planned; });
  if (!shares) return std::nullopt;
  return ways->primary.limit_bytes;
}

// Every relay takes a chunk whole before it sends it on.
absl::Duration AuxiliarySelector::ExpectedTime(const Way& auxiliary_path, int64_t size_bytes, Timestamp now) const {
  const auto hops = static_cast<int64_t>(auxiliary_path.path.size()) - 1;
  const absl::Duration unloaded =
      auxiliary_path.delay + TimeFor(BytesOn(auxiliary_path.path) + hops * size_bytes, auxiliary_path.rate_bps);
  const auto seen = latencies_.find(auxiliary_path.path);
  if (seen == latencies_.end() || now - seen->second.seen_at > kLatencyMemory) return unloaded;
  return std::max(unloaded, seen->second.smoothed);
}

bool AuxiliarySelector::IsSooner(const Ways& ways, const Way& auxiliary_path, int64_t size_bytes, int64_t load_bytes,
                                 Timestamp now) const {
  if (load_bytes >= kStuck) return true;
  return ExpectedTime(auxiliary_path, size_bytes, now) <
         ways.primary.delay + TimeFor(load_bytes, ways.primary.rate_bps);
}

const AuxiliarySelector::Path* AuxiliarySelector::PickPath(PolicyVersion policy, NodeId destination, int64_t size_bytes,
                                                           int64_t load_bytes, double fastest_bps,
                                                           const HasRoom& has_room, Timestamp now) const {
  const Ways* ways = Find(policy, destination);
  if (ways == nullptr) return nullptr;
  const Way& primary = ways->primary;
  const bool is_slow = fastest_bps > 0 && fastest_bps < kAsPlanned * primary.planned_bps;
  const bool is_very_slow = is_slow && fastest_bps < kHardlyAsPlanned * primary.planned_bps;
  for (const Way& auxiliary_path : ways->auxiliary_paths) {
    const bool fits = BytesOn(auxiliary_path.path) + size_bytes <= auxiliary_path.limit_bytes;
    const bool is_wanted =
        auxiliary_path.is_planned || (is_slow && auxiliary_path.is_spare) || is_very_slow || load_bytes >= kStuck;
    if (!fits || !is_wanted || !MayTry(auxiliary_path.path, now) || !has_room(auxiliary_path.path[1])) continue;
    if (IsSooner(*ways, auxiliary_path, size_bytes, load_bytes, now)) return &auxiliary_path.path;
  }
  return nullptr;
}

void AuxiliarySelector::OnDelivered(ChunkInFlight& chunk, Timestamp now) {
  if (chunk.path_bytes == 0) return;
  const Path& path = chunk.message.route.path;
  const absl::Duration took = now - chunk.on_path_since;
  auto [latency, is_new] = latencies_.try_emplace(path, Latency{took, now});
  latency->second.smoothed += (took - latency->second.smoothed) / 4;
  latency->second.seen_at = now;
  refusals_.erase(path);
  OnDone(chunk);
}

void AuxiliarySelector::OnRefused(const Path& path, Timestamp now) {
  const auto [refusal, is_first] = refusals_.try_emplace(path, Refusal{kFirstRefusal, now + kFirstRefusal});
  // The others were on their way when the first was refused.
  if (is_first || now < refusal->second.until) return;
  refusal->second.lasts = std::min(kLongestRefusal, 2 * refusal->second.lasts);
  refusal->second.until = now + refusal->second.lasts;
}

bool AuxiliarySelector::MayTry(const Path& path, Timestamp now) const {
  const auto refusal = refusals_.find(path);
  return refusal == refusals_.end() || (now >= refusal->second.until && BytesOn(path) == 0);
}

void AuxiliarySelector::OnSent(ChunkInFlight& chunk, Timestamp now) {
  if (chunk.is_direct()) return;
  chunk.path_bytes = WireBytes(chunk.message, chunk.payload);
  chunk.on_path_since = now;
  bytes_on_[chunk.message.route.path] += chunk.path_bytes;
}

void AuxiliarySelector::OnDone(ChunkInFlight& chunk) {
  if (chunk.path_bytes == 0) return;
  const auto bytes = bytes_on_.find(chunk.message.route.path);
  bytes->second -= std::exchange(chunk.path_bytes, 0);
  if (bytes->second == 0) bytes_on_.erase(bytes);
}

void AuxiliarySelector::Clear() {
  bytes_on_.clear();
  refusals_.clear();
}

int64_t AuxiliarySelector::BytesOn(const Path& path) const {
  auto bytes = bytes_on_.find(path);
  return bytes == bytes_on_.end() ? 0 : bytes->second;
}

}  // namespace banyan
