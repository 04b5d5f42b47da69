// DC2's delay monitor (Abdelmoniem and Canini, "DC2: Delay-aware Compression Control for Distributed Machine Learning",
// section IV): what is known of the delays d of the communication phases so far. In seconds.
//
//   d  of the newest round              m  the least of all rounds, never forgotten
//   a  the mean over the last w rounds  r  the mean of the differences between neighbouring rounds over the last w
//
// The paper says "over the previous w samples" and lists w + 1 of them (d_j to d_(j-w)); here they are w, or as many as
// there are. The differences telescope, so r is (d_j - d_(j-w)) / w; it is 0 after the first round.
// Thread-compatible; owned by DelayAdaptiveController.
#ifndef BANYAN_COMPRESSION_CONTROL_DELAY_MONITOR_H_
#define BANYAN_COMPRESSION_CONTROL_DELAY_MONITOR_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compression/control/round_window.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_DELAY_MONITOR_H_
