#include "node/link_windows.h"

#include <algorithm>

#include "absl/time/time.h"
#include "core/bandwidth_delay.h"
#include "core/buffer.h"

namespace banyan {
namespace {

// Of the links that share this host's cap, weighted by their parts of it.
absl::Duration MeanRoundTrip(const PolicySlice& slice) {
  double parts_bps = 0;
  absl::Duration sum;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const double part_bps = neighbour.capped_bps.value_or(0);
    parts_bps += part_bps;
    sum += part_bps * neighbour.round_trip;
  }
  return parts_bps > 0 ? sum / parts_bps : absl::ZeroDuration();
}

}  // namespace

void LinkWindows::AddPolicy(const PolicySlice& slice, const DetourSelector& detours) {
  auto [entry, added] = policies_.try_emplace(slice.version);
  if (!added) return;
  Policy& policy = entry->second;
  policy.chunk_bytes = slice.chunk_max_elements * SizeOf(DataType::kFloat32);
  const absl::Duration mean = MeanRoundTrip(slice);
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const bool is_capped = neighbour.capped_bps.has_value();
    const absl::Duration round_trip = is_capped ? std::max(neighbour.round_trip, mean) : neighbour.round_trip;
    policy.windows[neighbour.node] =
        kBandwidthDelayProducts * BandwidthDelayBytes(neighbour.capped_bps.value_or(neighbour.rate_bps), round_trip);
    const std::optional<int64_t> limit = detours.PrimaryLimit(slice.version, neighbour.node);
    if (limit.has_value()) policy.limits[neighbour.node] = *limit;
  }
}

void LinkWindows::RetirePolicies(PolicyVersion oldest) {
  policies_.erase(policies_.begin(), policies_.lower_bound(oldest));
}

std::optional<int64_t> LinkWindows::BytesFor(NodeId neighbour) const {
  // Chunks of all sizes share the window, which must not get too small for the largest.
  int64_t least_bytes = 0;
  for (const auto& [version, policy] : policies_) {
    least_bytes = std::max(least_bytes, kLeastChunks * policy.chunk_bytes);
  }
  std::optional<int64_t> largest;
  for (const auto& [version, policy] : policies_) {
    const auto window = policy.windows.find(neighbour);
    if (window == policy.windows.end()) continue;
    if (fixed_bytes_ > 0) return fixed_bytes_;
    int64_t size_bytes = std::max(least_bytes, window->second);
    if (const auto limit = policy.limits.find(neighbour); limit != policy.limits.end()) {
      size_bytes = std::min(size_bytes, limit->second);
    }
    largest = std::max(largest.value_or(0), size_bytes);
  }
  return largest;
}

}  // namespace banyan
