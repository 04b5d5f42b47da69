// Which controller an uplink has, with its numbers: the value that a configuration becomes. Immutable once made;
// thread-compatible.
#ifndef BANYAN_COMPRESSION_CONTROL_RATIO_CONFIG_H_
#define BANYAN_COMPRESSION_CONTROL_RATIO_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compression/control/budget_controller.h"
#include "compression/control/delay_adaptive_controller.h"
#include "compression/control/fixed_controller.h"
#include "compression/control/netsense_controller.h"
#include "proto/compression_config.h"

namespace banyan {

struct RatioControllerConfig {
  RatioControllerKind kind = RatioControllerKind::kFixed;
  // Of these only the one that `kind` names is looked at.
  FixedController::Config fixed;
  NetSenseController::Config netsense;
  DelayAdaptiveController::Config delay_adaptive;  // its law follows from the kind
  BudgetController::Config budget;
};

// Every kind, in the order of their numbers.
std::vector<RatioControllerKind> AllRatioControllerKinds();

// As overlay.yaml has it: fixed, netsense, da1 to da5, budget. REQUIRES: `kind` is one of the enumeration's.
absl::string_view NameOf(RatioControllerKind kind);

// The kind of that name; INVALID_ARGUMENT lists the names.
absl::StatusOr<RatioControllerKind> ParseRatioControllerKind(absl::string_view name);

// INVALID_ARGUMENT for a kind that does not exist, or naming the field of its numbers that is out of range.
absl::Status CheckRatioControllerConfig(const RatioControllerConfig& config);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_RATIO_CONFIG_H_
