// Which of two encodings in levels suits a link, by the share of its contributions that is cut, as a mean over the last
// rounds. A transform makes heads good, and costs time at both ends; where little is cut that buys nothing (Chen,
// Vargaftik, Ben Basat, HotNets 2024, sections 4.2 and 4.3: light methods for few cuts, the transform above). Pure;
// thread-compatible; owned by whoever encodes.
//
// Invariants:
// - It changes from one to the other only across a gap: up at `light_below`, back at half of it.
#ifndef BANYAN_NODE_TRIM_TRIM_METHOD_H_
#define BANYAN_NODE_TRIM_TRIM_METHOD_H_

#include <algorithm>

namespace banyan {

class TrimMethod {
 public:
  // Of the mean: the weight of the newest round.
  static constexpr double kNewest = 0.25;

  // `light_below` in [0, 1]: the share of bytes that is cut from which on the light method does not do. 0: never light.
  explicit TrimMethod(double light_below) : light_below_(light_below), is_light_(light_below > 0) {}

  // At first, where nobody has been seen to cut, it is.
  bool is_light() const { return is_light_; }

  // A round is over, in which this share of what there was to send did not come through.
  void Observe(double cut) {
    if (!(cut >= 0)) return;
    mean_ += kNewest * (std::min(cut, 1.0) - mean_);
    is_light_ = mean_ < (is_light_ ? light_below_ : light_below_ / 2);
  }

 private:
  double light_below_;
  bool is_light_;
  double mean_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_TRIM_METHOD_H_
