#include "node/peers/link_windows.h"

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"
#include "core/bandwidth_delay.h"
#include "core/buffer.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

constexpr size_t kNodesOfALink = 2;

// Returns the mean round trip of the links that share this host's cap, weighted by their parts of it.
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

// Returns what keeps the link busy while an ack is late, and a chunk more for each connection: those that share a link
// are done with theirs at about the same time. At least two more: a chunk on an auxiliary path comes between a link's
// own.
int64_t LateAckBytes(double rate_bps, absl::Duration round_trip, int64_t chunk_bytes, int64_t connections) {
  const int64_t meanwhile_bytes = BandwidthDelayBytes(rate_bps, round_trip + LinkWindows::kAckLateness);
  const int64_t chunks = (meanwhile_bytes + chunk_bytes - 1) / chunk_bytes + std::max<int64_t>(2, connections);
  return (rate_bps > 0 ? std::min(LinkWindows::kEnoughChunks, chunks) : LinkWindows::kEnoughChunks) * chunk_bytes;
}

}  // namespace

int64_t LinkWindows::Connections(const NeighbourSlice& neighbour) const {
  if (options_.bytes_per_connection == 0) return options_.connections;
  const int64_t product_bytes = BandwidthDelayBytes(neighbour.rate_bps, neighbour.round_trip);
  const int64_t each_bytes = (options_.loss_limited ? 1 : kSteadyFactor) * options_.bytes_per_connection;
  return std::clamp<int64_t>(product_bytes / each_bytes, 1, options_.connections);
}

void LinkWindows::AddPolicy(const PolicySlice& slice, const AuxiliarySelector& auxiliary_paths) {
  auto [entry, added] = windows_.try_emplace(slice.version);
  if (!added) return;
  const int64_t chunk_bytes = WireBytes(slice.chunk_max_elements * SizeOf(DataType::kFloat32), kNodesOfALink);
  const absl::Duration mean = MeanRoundTrip(slice);
  // A pace at what Eq. 14 reads would hold the link back to it, and then even less would be read.
  const bool reads_low = slice.transmission.estimator == RateEstimator::kOneWayDelay;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const bool is_capped = neighbour.capped_bps.has_value();
    const double rate_bps = neighbour.capped_bps.value_or(neighbour.rate_bps);
    const absl::Duration round_trip = is_capped ? std::max(neighbour.round_trip, mean) : neighbour.round_trip;
    const int64_t product_bytes = BandwidthDelayBytes(rate_bps, round_trip);
    const int64_t connections = Connections(neighbour);
    const int64_t needed =
        std::max(kBandwidthDelayProducts * product_bytes, LateAckBytes(rate_bps, round_trip, chunk_bytes, connections));
    const std::optional<int64_t> limit = auxiliary_paths.PrimaryLimit(slice.version, neighbour.node);
    LinkWindow& window = entry->second[neighbour.node];
    window.size_bytes = options_.fixed_bytes > 0 ? options_.fixed_bytes : std::min(needed, limit.value_or(needed));
    window.connections = connections;
    const bool is_paced = neighbour.rate_bps > 0 && rate_bps >= neighbour.rate_bps && !reads_low;
    window.ack_time = round_trip + kAckLateness;
    window.rate_bps = rate_bps;
    window.pace_bps = is_paced ? neighbour.rate_bps : kUnpaced;
  }
}

void LinkWindows::RetirePolicies(PolicyVersion oldest) {
  windows_.erase(windows_.begin(), windows_.lower_bound(oldest));
}

std::optional<LinkWindow> LinkWindows::For(NodeId neighbour) const {
  std::optional<LinkWindow> widest;
  for (const auto& [version, windows] : windows_) {
    const auto found = windows.find(neighbour);
    if (found != windows.end()) widest = widest.has_value() ? Widest(*widest, found->second) : found->second;
  }
  return widest;
}

}  // namespace banyan
