// The same ratio in every round: what adaptive controllers are compared with. Thread-compatible; owned by whoever
// encodes for the uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_

#include "absl/status/status.h"
#include "compression/control/config_check.h"
#include "compression/control/ratio_controller.h"

namespace banyan {

class FixedController : public RatioController {
 public:
  struct Config {
    double ratio = 0.1;  // share of elements; the uniform ratio that both papers compare with
  };

  static absl::Status Check(const Config& config) {
    return CheckRanges("fixed", {{"ratio", config.ratio, kLeastRatio, 1}});
  }

  // REQUIRES: Check(config) passes.
  explicit FixedController(const Config& config) : ratio_(config.ratio) {}

  void Observe(const RoundObservation&) override {}
  double ratio() const override { return ratio_; }

 private:
  double ratio_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_FIXED_CONTROLLER_H_
