#include "topology/evaluation/travel_time.h"

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"

namespace banyan {
namespace {

constexpr double kPacketBits = 1448 * 8;

// Of a link, as long as the overlay's file does not say otherwise.
constexpr double kConnections = 2;

}  // namespace

double TravelSeconds(const NetworkLink& link, double arrivals, double sent_bits) {
  const double delay = absl::ToDoubleSeconds(link.delay);
  const double round_trip = 2 * delay;
  const double bits = std::min(link.throughput_bps * round_trip, sent_bits);
  const double lost = link.loss_fraction * bits / kConnections / kPacketBits;
  // What is left of a round trip since the last loss, which lies exponentially long back: 1 - (1 - exp(-lost)) / lost.
  // The latest of several is as if losses came so many times as often.
  const double losses = lost * arrivals;
  const double waiting = losses > 1e-6 ? 1 + std::expm1(-losses) / losses : losses / 2;
  return delay + round_trip * waiting;
}

}  // namespace banyan
