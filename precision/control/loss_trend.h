// The smoothed loss of a run and how it moves: what the detector is fed in calibration and at run time alike.
// Thread-compatible; owned by whoever watches the run.
#ifndef BANYAN_PRECISION_CONTROL_LOSS_TREND_H_
#define BANYAN_PRECISION_CONTROL_LOSS_TREND_H_

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

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_LOSS_TREND_H_
