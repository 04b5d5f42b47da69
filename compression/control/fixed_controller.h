// The same ratio in every round: what adaptive controllers are compared with. Thread-compatible; owned by whoever
// encodes for the uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_

#include "compression/control/ratio_controller.h"
#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {

class FixedController : public RatioController {
 public:
  using Config = FixedConfig;

  // REQUIRES: CheckRatioControllerConfig passes.
  explicit FixedController(const Config& config) : ratio_(config.ratio) {
    BANYAN_CHECK(CheckRatioControllerConfig({.fixed = config}).ok());
  }

  void Observe(const RoundObservation&) override {}
  double ratio() const override { return ratio_; }

 private:
  double ratio_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_
