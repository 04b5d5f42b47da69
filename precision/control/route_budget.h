// Holds the share of low-bit rounds down to a target: beyond target and band it vetoes for an interval. Shares are of
// all rounds of the run, the warm-up's among them. Thread-compatible; owned by the Supervisor.
#ifndef BANYAN_PRECISION_CONTROL_ROUTE_BUDGET_H_
#define BANYAN_PRECISION_CONTROL_ROUTE_BUDGET_H_

#include <cstdint>

namespace banyan {

class RouteBudget {
 public:
  RouteBudget(double target, double band, int64_t interval_steps)
      : target_(target), band_(band), interval_steps_(interval_steps) {}

  // Returns whether the next round may be low-bit. Asked once for each round that could be.
  bool Allows() {
    if (vetoed_steps_ > 0) {
      --vetoed_steps_;
      return false;
    }
    const double share = static_cast<double>(low_bit_rounds_ + 1) / static_cast<double>(rounds_ + 1);
    if (share <= target_ + band_) return true;
    ++guard_events_;
    vetoed_steps_ = interval_steps_ - 1;
    return false;
  }

  void Count(bool is_low_bit) {
    ++rounds_;
    low_bit_rounds_ += is_low_bit ? 1 : 0;
  }

  void set_target(double target) { target_ = target; }
  double target() const { return target_; }
  double share() const {
    return rounds_ == 0 ? 0 : static_cast<double>(low_bit_rounds_) / static_cast<double>(rounds_);
  }
  bool is_over() const { return share() > target_ + band_; }
  int64_t guard_events() const { return guard_events_; }

 private:
  double target_;
  double band_;
  int64_t interval_steps_;
  int64_t vetoed_steps_ = 0;
  int64_t rounds_ = 0;
  int64_t low_bit_rounds_ = 0;
  int64_t guard_events_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_ROUTE_BUDGET_H_
