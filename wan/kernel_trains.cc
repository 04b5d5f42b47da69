#include "wan/kernel_trains.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace banyan {
namespace {

constexpr double kLeastBpsForLongTrains = 20e6;
constexpr double kLeastBpsForTrains = 2e6;
// For round trips that are so short that they need less: more than 64 KB nobody sends at once.
constexpr int kLeastRttLog = 14;

}  // namespace

std::optional<int> TsoRttLog(const NetworkView& view, NodeId node) {
  const absl::Span<const NetworkLink> links = view.LinksFrom(node);
  if (links.empty()) return std::nullopt;
  const auto slower = [](const NetworkLink& a, const NetworkLink& b) { return a.throughput_bps < b.throughput_bps; };
  const auto shorter = [](const NetworkLink& a, const NetworkLink& b) { return a.delay < b.delay; };
  const double slowest_bps = std::min_element(links.begin(), links.end(), slower)->throughput_bps;
  if (slowest_bps < kLeastBpsForTrains) return std::nullopt;
  const absl::Duration round_trip = 2 * std::min_element(links.begin(), links.end(), shorter)->delay;
  const auto microseconds = static_cast<uint64_t>(absl::ToInt64Microseconds(round_trip));
  const int just_longer = std::max(kLeastRttLog, static_cast<int>(std::bit_width(microseconds)));
  return slowest_bps >= kLeastBpsForLongTrains ? just_longer : just_longer - 2;
}

}  // namespace banyan
