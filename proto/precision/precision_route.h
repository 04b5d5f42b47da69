// How the gradients of a key travel in a round. Fixed with the round's policy, the same on every member. Plain values.
#ifndef BANYAN_PROTO_PRECISION_PRECISION_ROUTE_H_
#define BANYAN_PROTO_PRECISION_PRECISION_ROUTE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace banyan {

// As NEURON-Fabric (Wang, Huang and Lung, 2026) counts them: L is low-bit, F is FP32 where an admitted route was
// vetoed, P is plain FP32. Only sums go low-bit: a broadcast or a flush of a low-bit round travels as floats.
enum class PrecisionRoute : uint8_t { kPlain = 0, kFallback = 1, kLowBit = 2 };
// The greatest of them.
inline constexpr PrecisionRoute kLastPrecisionRoute = PrecisionRoute::kLowBit;

inline absl::string_view RouteName(PrecisionRoute route) {
  return route == PrecisionRoute::kLowBit ? "low-bit" : route == PrecisionRoute::kFallback ? "fallback" : "plain";
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_PRECISION_ROUTE_H_
