// DC2's controllers DA1 to DA5 (Abdelmoniem and Canini, Algorithm 1, Table I): raise or lower the ratio k by what the
// delay monitor knows: the delay d of this round, its minimum m, average a and average difference r.
//
//   DA1  k - (d - a) / (d - m)                                            proportional; oscillates, says the paper
//   DA2  halved if (d - a) / (d - m) > dvar, + kinc if (a - d) / (d - m) > dvar, else as it was
//   DA3  - kdec if (d - a) / (d - m) > dvar, + kinc if (a - d) / (d - m) > dvar, else as it was
//   DA4  + kinc if r / m < 0, else k (1 - beta r / m)
//   DA5  + kinc if d < alpha m, else k (1 - beta (d - alpha a) / (d - alpha m)) if d > alpha a, else DA4
//
// What the paper leaves open, and what holds here:
//  - In DA2 and DA3 Algorithm 1 prints the second comparison as "(a - d) / (d - m) < dvar", so that delays far below
//    the average would not raise the ratio while average ones would. The text has the ratio change only "when the delay
//    is outside the range [a - dvar, a + dvar]". The mean ratio that the paper reports for DA3 is 0.145, the middle of
//    its bounds. That mean needs raises as likely as falls. So the sign is a slip of the pen, and it is ">" here.
//  - The text gives DA4's increase as "k / 2"; Algorithm 1 has kinc in the same place, and so it is here.
//  - A delay that is the minimum makes d - m zero. The quotients are then limits: a round below the average raises the
//    ratio (DA1: to the greatest), one at the average leaves it.
//  - The first ratio is not given: the greatest, so that nothing is lost on a network that needs no compression.
//
// Thread-compatible; owned by whoever encodes for the uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_DELAY_ADAPTIVE_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_DELAY_ADAPTIVE_CONTROLLER_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compression/control/ratio_controller.h"
#include "compression/control/round_window.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

// DC2's delay monitor (Abdelmoniem and Canini, "DC2: Delay-aware Compression Control for Distributed Machine Learning",
// section IV): what is known of the delays d of the communication phases so far. In seconds.
//
//   d  of the newest round              m  the least of all rounds, never forgotten
//   a  the mean over the last w rounds  r  the mean of the differences between neighbouring rounds over the last w
//
// The paper says "over the previous w samples" and lists w + 1 of them (d_j to d_(j-w)); here they are w, or as many as
// there are. The differences telescope, so r is (d_j - d_(j-w)) / w; it is 0 after the first round.
// Thread-compatible; owned by DelayAdaptiveController.
class DelayMonitor {
 public:
  // REQUIRES: window_rounds > 0.
  explicit DelayMonitor(int64_t window_rounds) : averaged_(window_rounds), differenced_(window_rounds + 1) {}

  // REQUIRES: delay_seconds > 0 and finite.
  void Add(double delay_seconds) {
    averaged_.Add(delay_seconds);
    differenced_.Add(delay_seconds);
    minimum_ = std::min(minimum_, delay_seconds);
  }

  // All below: REQUIRES: Add was called.
  double delay() const { return averaged_.newest(); }  // d
  double minimum() const { return minimum_; }          // m
  double average() const { return averaged_.Mean(); }  // a
  double average_difference() const {                  // r
    if (differenced_.size() < 2) return 0;
    return (differenced_.newest() - differenced_.oldest()) / static_cast<double>(differenced_.size() - 1);
  }

 private:
  RoundWindow averaged_;
  RoundWindow differenced_;
  double minimum_ = std::numeric_limits<double>::infinity();
};

class DelayAdaptiveController : public RatioController {
 public:
  using Law = DelayLaw;
  using Config = DelayAdaptiveConfig;

  // REQUIRES: CheckRatioControllerConfig passes for the kind of this law.
  explicit DelayAdaptiveController(const Config& config);

  // Looks at the round's delay alone; a delay of zero is no round.
  void Observe(const RoundObservation& round) override;
  double ratio() const override { return ratio_; }

 private:
  double Next() const;
  double Proportional() const;
  // DA2 and DA3, which differ in where a long delay leads.
  double WithinVariation(double lowered) const;
  double Gradient() const;
  double ThresholdsGradient() const;

  Config config_;
  double ratio_;
  DelayMonitor monitor_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_DELAY_ADAPTIVE_CONTROLLER_H_
