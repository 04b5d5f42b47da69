// Makes the controller that a configuration asks for. Pure functions.
#ifndef BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_
#define BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "compression/control/ratio_controller.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

// A controller that has seen no round. INVALID_ARGUMENT as CheckRatioControllerConfig.
absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const RatioControllerConfig& config);

// The controller of a rule: its numbers over the defaults. INVALID_ARGUMENT names the number. A rule that was read from
// the file or the wire (proto/compression/compression_check.h) always has one; with a dense codec nobody asks it.
absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const CompressionRule& rule);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_FACTORY_H_
