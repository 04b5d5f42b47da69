// One number for each of the last rounds, with a label of the round beside it. Thread-compatible; owned by the
// controller that asks.
#ifndef BANYAN_COMPRESSION_CONTROL_ROUND_WINDOW_H_
#define BANYAN_COMPRESSION_CONTROL_ROUND_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <numeric>

#include "core/check.h"

namespace banyan {

class RoundWindow {
 public:
  // REQUIRES: rounds > 0.
  explicit RoundWindow(int64_t rounds) : rounds_(static_cast<size_t>(rounds)) { BANYAN_CHECK(rounds > 0); }

  void Add(double value, double label = 0) {
    values_.push_back(value);
    labels_.push_back(label);
    if (labels_.size() > rounds_) labels_.pop_front();
    if (values_.size() > rounds_) values_.pop_front();
  }

  // All below: REQUIRES: Add was called.
  double Least() const { return *std::min_element(values_.begin(), values_.end()); }
  double Greatest() const { return *std::max_element(values_.begin(), values_.end()); }
  double Mean() const {
    return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
  }
  double newest() const { return values_.back(); }
  double oldest() const { return values_.front(); }
  size_t size() const { return values_.size(); }
  // Returns the label of the round with the least value; the newest where several have it.
  double LabelOfLeast() const { return labels_[IndexOfLeast()]; }
  // Returns whether the next value takes the place of the only least one.
  bool LosesLeastNext() const { return values_.size() == rounds_ && IndexOfLeast() == 0; }

 private:
  size_t IndexOfLeast() const {
    const auto least = std::min_element(values_.rbegin(), values_.rend());
    return static_cast<size_t>(std::distance(least, values_.rend())) - 1;
  }

  size_t rounds_;
  std::deque<double> values_;  // the newest last
  std::deque<double> labels_;  // of them
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_ROUND_WINDOW_H_
