// Why a round of an admitted low-bit route is not low-bit. Plain values.
#ifndef BANYAN_PRECISION_CONTROL_ROUTE_H_
#define BANYAN_PRECISION_CONTROL_ROUTE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/precision/precision_route.h"

namespace banyan {

// Why an admitted route is vetoed; kNone where it is not.
enum class Veto : uint8_t { kNone, kForced, kCooldown, kReadmission, kBudget };

inline absl::string_view VetoName(Veto veto) {
  constexpr absl::string_view kNames[] = {"none", "forced", "cooldown", "readmission", "budget"};
  return kNames[static_cast<int>(veto)];
}

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_ROUTE_H_
