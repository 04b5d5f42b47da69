// Makes the controller that a configuration asks for. Pure function.
#ifndef BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_
#define BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "compression/control/ratio_config.h"
#include "compression/control/ratio_controller.h"

namespace banyan {

// A controller that has seen no round. INVALID_ARGUMENT as CheckRatioControllerConfig.
absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const RatioControllerConfig& config);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_
