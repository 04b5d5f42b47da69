// The smoothed loss of a run, how it moves, and the detector that is fed with it in calibration and at run time alike.
// Thread-compatible; owned by whoever watches the run.
#ifndef BANYAN_PRECISION_CONTROL_LOSS_TREND_H_
#define BANYAN_PRECISION_CONTROL_LOSS_TREND_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace banyan {

class LossTrend {
 public:
  // `smoothing` is the weight of the newest loss, in (0, 1].
  explicit LossTrend(double smoothing) : smoothing_(smoothing) {}

  // Returns by how much the smoothed loss rises with `loss`: 0 for the first, infinity for one that is not finite,
  // which leaves the smoothed loss as it was.
  double Add(double loss) {
    if (!std::isfinite(loss)) return std::numeric_limits<double>::infinity();
    const double before = has_loss_ ? smoothed_ : loss;
    has_loss_ = true;
    smoothed_ = before + smoothing_ * (loss - before);
    return smoothed_ - before;
  }

  bool has_loss() const { return has_loss_; }
  // REQUIRES: has_loss().
  double smoothed() const { return smoothed_; }

 private:
  double smoothing_;
  bool has_loss_ = false;
  double smoothed_ = 0;
};

// Count, mean and standard deviation of numbers (Welford's method). Thread-compatible.
class RunningStatistics {
 public:
  void Add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
  }

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  double deviation() const { return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0; }

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Detects that a signal has begun to rise: it adds up what each step rises beyond a slack, never below zero, and fires
// above a threshold (Page, "Continuous Inspection Schemes", 1954).
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

#endif  // BANYAN_PRECISION_CONTROL_LOSS_TREND_H_
