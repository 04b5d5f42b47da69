#include "topology/travel_time.h"

#include <cmath>

#include "absl/time/time.h"

namespace banyan {
namespace {

constexpr double kPacketBits = 1448 * 8;

}  // namespace

double TravelSeconds(const NetworkLink& link) {
  const double delay = absl::ToDoubleSeconds(link.delay);
  const double round_trip = 2 * delay;
  const double lost = link.loss_fraction * link.throughput_bps * round_trip / kPacketBits;
  return delay + round_trip * -std::expm1(-lost);
}

}  // namespace banyan
