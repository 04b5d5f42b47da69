#include "topology/evaluation/travel_time.h"

#include <cmath>

#include "absl/time/time.h"

namespace banyan {
namespace {

constexpr double kPacketBits = 1448 * 8;

// Of a link, as long as the overlay's file does not say otherwise.
constexpr double kConnections = 2;

}  // namespace

double TravelSeconds(const NetworkLink& link) {
  const double delay = absl::ToDoubleSeconds(link.delay);
  const double round_trip = 2 * delay;
  const double lost = link.loss_fraction * link.throughput_bps / kConnections * round_trip / kPacketBits;
  // What is left of a round trip since the last loss, which lies exponentially long back: 1 - (1 - exp(-lost)) / lost.
  const double waiting = lost > 1e-6 ? 1 + std::expm1(-lost) / lost : lost / 2;
  return delay + round_trip * waiting;
}

}  // namespace banyan
