#include "node/peers/link_windows.h"

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"
#include "core/buffer.h"
#include "core/units.h"
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

// Returns the rate for which a link of `believed_bps` that has shown `shown` gets its window.
double RateForWindow(double believed_bps, const PaceSearch::Shown& shown) {
  if (believed_bps <= 0) return believed_bps;
  const double at_most_bps = shown.is_backlogged ? PaceSearch::kAboveSlow * shown.rate_bps : believed_bps;
  return std::max(std::min(believed_bps, at_most_bps), shown.rate_bps);
}

// Returns the rate by which acks of a link of `believed_bps` are expected; 0 for a rate that nobody knows yet.
double RateForAcks(double believed_bps, bool is_guessed, const PaceSearch::Shown& shown) {
  if (is_guessed) return shown.is_backlogged ? shown.rate_bps : 0;
  const bool is_slower = shown.is_backlogged && PaceSearch::kAboveSlow * shown.rate_bps < believed_bps;
  return is_slower ? shown.rate_bps : believed_bps;
}

}  // namespace

int64_t LinkWindows::Connections(double link_bps, absl::Duration round_trip) const {
  if (options_.bytes_per_connection == 0) return options_.connections;
  const int64_t each_bytes = (options_.loss_limited ? 1 : kSteadyFactor) * options_.bytes_per_connection;
  return std::clamp<int64_t>(BandwidthDelayBytes(link_bps, round_trip) / each_bytes, 1, options_.connections);
}

void LinkWindows::AddPolicy(const PolicySlice& slice, const AuxiliarySelector& auxiliary_paths) {
  auto [entry, added] = wanted_.try_emplace(slice.version);
  if (!added) return;
  const absl::Duration mean = MeanRoundTrip(slice);
  // A pace at what Eq. 14 reads would hold the link back to it, and then even less would be read.
  const bool reads_low = slice.transmission.estimator == RateEstimator::kOneWayDelay;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    Wanted& wanted = entry->second[neighbour.node];
    wanted.link_bps = neighbour.rate_bps;
    wanted.rate_bps = neighbour.capped_bps.value_or(neighbour.rate_bps);
    wanted.is_capped = neighbour.capped_bps.has_value();
    wanted.is_paced = neighbour.rate_bps > 0 && wanted.rate_bps >= neighbour.rate_bps && !reads_low;
    wanted.is_guessed = neighbour.rate_is_guessed && wanted.is_paced;
    wanted.link_round_trip = neighbour.round_trip;
    wanted.round_trip = wanted.is_capped ? std::max(neighbour.round_trip, mean) : neighbour.round_trip;
    wanted.chunk_bytes = WireBytes(slice.chunk_max_elements * SizeOf(DataType::kFloat32), kNodesOfALink);
    wanted.limit_bytes = auxiliary_paths.PrimaryLimit(slice.version, neighbour.node);
  }
}

std::optional<int64_t> LinkWindows::LimitFor(const Wanted& wanted, double rate_bps) {
  if (!wanted.limit_bytes.has_value() || rate_bps <= wanted.rate_bps || wanted.rate_bps <= 0) return wanted.limit_bytes;
  return static_cast<int64_t>(static_cast<double>(*wanted.limit_bytes) * rate_bps / wanted.rate_bps);
}

LinkWindow LinkWindows::WindowOf(const Wanted& wanted, const PaceSearch::Shown& shown) const {
  const double rate_bps = wanted.is_capped ? wanted.rate_bps : RateForWindow(wanted.rate_bps, shown);
  LinkWindow window;
  window.connections = Connections(RateForWindow(wanted.link_bps, shown), wanted.link_round_trip);
  const int64_t needed = std::max(kBandwidthDelayProducts * BandwidthDelayBytes(rate_bps, wanted.round_trip),
                                  LateAckBytes(rate_bps, wanted.round_trip, wanted.chunk_bytes, window.connections));
  window.size_bytes = std::min(needed, LimitFor(wanted, rate_bps).value_or(needed));
  if (options_.fixed_bytes > 0) window.size_bytes = options_.fixed_bytes;
  window.ack_time = wanted.round_trip + kAckLateness;
  window.rate_bps = wanted.is_capped ? wanted.rate_bps : RateForAcks(wanted.rate_bps, wanted.is_guessed, shown);
  window.pace_bps = wanted.is_paced && !wanted.is_guessed ? wanted.link_bps : kUnpaced;
  window.is_guessed = wanted.is_guessed;
  return window;
}

void LinkWindows::RetirePolicies(PolicyVersion oldest) { wanted_.erase(wanted_.begin(), wanted_.lower_bound(oldest)); }

std::optional<LinkWindow> LinkWindows::For(NodeId neighbour, const PaceSearch::Shown& shown) const {
  std::optional<LinkWindow> widest;
  for (const auto& [version, links] : wanted_) {
    const auto found = links.find(neighbour);
    if (found == links.end()) continue;
    const LinkWindow window = WindowOf(found->second, shown);
    widest = widest.has_value() ? Widest(*widest, window) : window;
  }
  return widest;
}

}  // namespace banyan
