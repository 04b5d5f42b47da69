// Detects that a signal has begun to rise: it adds up what each step rises beyond a slack, never below zero, and fires
// above a threshold (Page, "Continuous Inspection Schemes", 1954). Thread-compatible; owned by the Supervisor.
#ifndef BANYAN_PRECISION_CONTROL_CUSUM_DETECTOR_H_
#define BANYAN_PRECISION_CONTROL_CUSUM_DETECTOR_H_

#include <algorithm>
#include <limits>

namespace banyan {

class CusumDetector {
 public:
  CusumDetector(double slack, double threshold) : slack_(slack), threshold_(threshold) {}

  // Returns whether a rise of `rise` makes it fire; it begins anew then. A not-a-number fires like infinity.
  bool Add(double rise) {
    const double sum = sum_ + rise - slack_;
    reached_ = sum >= 0 || sum < 0 ? std::max(0.0, sum) : std::numeric_limits<double>::infinity();
    const bool fires = reached_ > threshold_;
    sum_ = fires ? 0 : reached_;
    return fires;
  }

  void Reset() { sum_ = 0; }
  void SetScale(double slack, double threshold) {
    slack_ = slack;
    threshold_ = threshold;
  }

  double sum() const { return sum_; }
  // The sum that the last rise made, whether it fired or not.
  double reached() const { return reached_; }
  double slack() const { return slack_; }
  double threshold() const { return threshold_; }

 private:
  double slack_;
  double threshold_;
  double sum_ = 0;
  double reached_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_CUSUM_DETECTOR_H_
