// The way of a slice's gradients in a round. Plain values.
#ifndef BANYAN_PRECISION_CONTROL_ROUTE_H_
#define BANYAN_PRECISION_CONTROL_ROUTE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace banyan {

// As the paper of NEURON-Fabric counts them: L is low-bit, F is FP32 where an admitted route was vetoed, P is plain
// FP32.
enum class PrecisionRoute : uint8_t { kPlain = 0, kFallback = 1, kLowBit = 2 };

// Why an admitted route is vetoed; kNone where it is not.
enum class Veto : uint8_t { kNone, kForced, kCooldown, kReadmission, kBudget };

inline absl::string_view RouteName(PrecisionRoute route) {
  return route == PrecisionRoute::kLowBit ? "low-bit" : route == PrecisionRoute::kFallback ? "fallback" : "plain";
}

inline absl::string_view VetoName(Veto veto) {
  constexpr absl::string_view kNames[] = {"none", "forced", "cooldown", "readmission", "budget"};
  return kNames[static_cast<int>(veto)];
}

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_ROUTE_H_
