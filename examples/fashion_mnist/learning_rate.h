// Computes the learning rate over the course of a training. It rises in a line over the first tenth and then falls to 0
// in another line. It starts low since the first gradients are the largest, and what an encoding holds back of them
// comes later in lumps. Deep Gradient Compression, section 3.3, warms up too. Pure function, in plain arithmetic that
// gives the same bits on every machine.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_LEARNING_RATE_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_LEARNING_RATE_H_

#include <algorithm>
#include <cstdint>

namespace banyan {

// The part of the highest rate in the round that follows `done` of `rounds`, in (0, 1]. REQUIRES: 0 <= done < rounds.
inline double LearningRatePart(int64_t done, int64_t rounds) {
  constexpr double kWarmUp = 0.1;
  const double now = static_cast<double>(done + 1) / static_cast<double>(rounds);
  const double left = 1 - static_cast<double>(done) / static_cast<double>(rounds);
  return std::min({1.0, now / kWarmUp, left / (1 - kWarmUp)});
}

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_LEARNING_RATE_H_
