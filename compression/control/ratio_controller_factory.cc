#include "compression/control/budget_controller.h"
#include "compression/control/delay_adaptive_controller.h"
#include "compression/control/netsense_controller.h"
#include "compression/control/ratio_controller.h"
#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

using Kind = RatioControllerKind;
using Law = DelayAdaptiveController::Law;

std::unique_ptr<RatioController> MakeDelayAdaptive(DelayAdaptiveController::Config config, Law law) {
  config.law = law;
  return std::make_unique<DelayAdaptiveController>(config);
}

std::unique_ptr<RatioController> Make(const RatioControllerConfig& config) {
  switch (config.kind) {
    case Kind::kFixed:
      return std::make_unique<FixedController>(config.fixed);
    case Kind::kNetSense:
      return std::make_unique<NetSenseController>(config.netsense);
    case Kind::kDa1:
      return MakeDelayAdaptive(config.delay_adaptive, Law::kProportional);
    case Kind::kDa2:
      return MakeDelayAdaptive(config.delay_adaptive, Law::kMultiplicative);
    case Kind::kDa3:
      return MakeDelayAdaptive(config.delay_adaptive, Law::kAdditive);
    case Kind::kDa4:
      return MakeDelayAdaptive(config.delay_adaptive, Law::kGradient);
    case Kind::kDa5:
      return MakeDelayAdaptive(config.delay_adaptive, Law::kThresholdsGradient);
    case Kind::kBudget:
      return std::make_unique<BudgetController>(config.budget);
  }
  BANYAN_CHECK(false);
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const RatioControllerConfig& config) {
  if (absl::Status status = CheckRatioControllerConfig(config); !status.ok()) return status;
  return Make(config);
}

absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const CompressionRule& rule) {
  const absl::StatusOr<RatioControllerConfig> config = MakeRatioControllerConfig(rule);
  if (!config.ok()) return config.status();
  return Make(*config);
}

}  // namespace banyan
