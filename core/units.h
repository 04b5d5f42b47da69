// Decimal units as people write them, in base units, and the bandwidth-delay product. Pure function.
#ifndef BANYAN_CORE_UNITS_H_
#define BANYAN_CORE_UNITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

inline constexpr double kBitsPerMegabit = 1e6;
inline constexpr double kBytesPerMegabyte = 1e6;

// The bytes on their way on a path that is just full, until their acks are back; 0 when its rate is unknown (0).
inline int64_t BandwidthDelayBytes(double rate_bps, absl::Duration round_trip) {
  return static_cast<int64_t>(rate_bps / 8 * absl::ToDoubleSeconds(round_trip));
}

}  // namespace banyan

#endif  // BANYAN_CORE_UNITS_H_
