#include "topology/evaluation/simple_bound.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

// Two values are read and one is written.
constexpr double kSumBytesPerElement = 12;

using Delays = std::vector<std::vector<absl::Duration>>;

// Returns the shortest delays between all pairs of nodes, by their positions (Floyd and Warshall).
Delays ShortestDelays(const NetworkView& view) {
  const size_t nodes = view.nodes().size();
  Delays delays(nodes, std::vector<absl::Duration>(nodes, absl::InfiniteDuration()));
  for (size_t i = 0; i < nodes; ++i) delays[i][i] = absl::ZeroDuration();
  for (const NetworkLink& link : view.links()) {
    absl::Duration& delay = delays[*view.IndexOf(link.from)][*view.IndexOf(link.to)];
    delay = std::min(delay, link.delay);
  }
  for (size_t over = 0; over < nodes; ++over) {
    for (size_t from = 0; from < nodes; ++from) {
      for (size_t to = 0; to < nodes; ++to) {
        delays[from][to] = std::min(delays[from][to], delays[from][over] + delays[over][to]);
      }
    }
  }
  return delays;
}

// Returns the time there and back for the place where it is least.
absl::Duration LeastWay(const NetworkView& view) {
  const Delays delays = ShortestDelays(view);
  absl::Duration least = absl::InfiniteDuration();
  for (size_t place = 0; place < delays.size(); ++place) {
    absl::Duration there, back;
    for (size_t node = 0; node < delays.size(); ++node) {
      there = std::max(there, delays[node][place]);
      back = std::max(back, delays[place][node]);
    }
    least = std::min(least, there + back);
  }
  return least;
}

}  // namespace

absl::Duration LeastRoundTime(const NetworkView& view, double elements, double bound_bps) {
  const auto nodes = static_cast<double>(view.nodes().size());
  if (nodes < 2) return absl::ZeroDuration();
  const absl::Duration carrying = absl::Seconds(kBitsPerElement * elements / bound_bps);
  const absl::Duration summing =
      absl::Seconds(elements * kSumBytesPerElement * (nodes - 1) / nodes / kSumBytesPerSecond);
  return std::max({carrying, LeastWay(view), summing});
}

double SimpleBoundBps(const NetworkView& view) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double nodes = static_cast<double>(view.nodes().size());
  if (nodes < 2) return kInfinite;
  std::map<NodeId, double> outgoing_bps;
  std::map<NodeId, double> incoming_bps;
  double total_bps = 0;
  for (const NetworkLink& link : view.links()) {
    outgoing_bps[link.from] += link.throughput_bps;
    incoming_bps[link.to] += link.throughput_bps;
    total_bps += link.throughput_bps;
  }
  double bound_bps = total_bps / (2 * (nodes - 1));
  for (const NetworkNode& node : view.nodes()) {
    bound_bps = std::min({bound_bps, outgoing_bps[node.id], incoming_bps[node.id], node.up_cap_bps.value_or(kInfinite),
                          node.down_cap_bps.value_or(kInfinite)});
  }
  return bound_bps;
}

}  // namespace banyan
