// Finds the largest ratio whose rounds take a given time on one uplink, from how fast the uplink was. A round of ratio
// k that took T leads to k * budget / T. That ratio would have met the budget had bytes and time been proportional.
// They are not: a round takes R + bytes / rate. As R is at least zero, each step is too small, never too large. So the
// rounds' times approach the budget from one side, by the factor R / budget per round. They do not swing around it.
//
// The budget is the uplink's part of what the user gives a round (RoundObservation::budget_share, which the scheduler
// works out for each policy).
//
// A rate that has become lower counts at once, which keeps the promise. One that has become higher counts through a
// moving average, so that one lucky round does not break the promise. Where the budget is shorter than R the ratio is
// the least. Thread-compatible; owned by whoever encodes for the uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_BUDGET_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_BUDGET_CONTROLLER_H_

#include "compression/control/ratio_controller.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

class BudgetController : public RatioController {
 public:
  using Config = BudgetConfig;

  // REQUIRES: CheckRatioControllerConfig passes.
  explicit BudgetController(const Config& config);

  void Observe(const RoundObservation& round) override;
  double ratio() const override { return ratio_; }

 private:
  Config config_;
  double ratio_;
  double ratio_per_second_ = 0;  // the uplink's rate in shares of what a round holds; 0 before the first round
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_BUDGET_CONTROLLER_H_
