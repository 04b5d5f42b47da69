// What a worker does of its own while it trains: the order of its batches, the learning rate, its momentum.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_WORKER_TRAINING_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_WORKER_TRAINING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/random.h"

namespace banyan {

// Which samples make up which batch: every epoch is a fresh permutation of all samples, a function of the seed alone.
// Thread-compatible.
class BatchOrder {
 public:
  // REQUIRES: 0 < batch <= samples.
  BatchOrder(int64_t samples, int64_t batch, uint64_t seed);

  // The indices of the next batch, valid until the next call. What is left of an epoch after its last whole batch is
  // skipped.
  absl::Span<const int64_t> Next();

  // Goes over so many batches, as if Next had given them.
  void Skip(int64_t batches);

  int64_t batches_per_epoch() const { return static_cast<int64_t>(order_.size()) / batch_; }

 private:
  void Shuffle();

  const int64_t batch_;
  Random random_;
  std::vector<int64_t> order_;
  int64_t position_ = 0;
};

// Computes the part of the highest learning rate in the round that follows `done` of `rounds`, in (0, 1]. It rises in a
// line over the first tenth and then falls to 0 in another line. It starts low since the first gradients are the
// largest, and what an encoding holds back of them comes later in lumps. Deep Gradient Compression, section 3.3, warms
// up too. Pure function, in plain arithmetic that gives the same bits on every machine. REQUIRES: 0 <= done < rounds.
inline double LearningRatePart(int64_t done, int64_t rounds) {
  constexpr double kWarmUp = 0.1;
  const double now = static_cast<double>(done + 1) / static_cast<double>(rounds);
  const double left = 1 - static_cast<double>(done) / static_cast<double>(rounds);
  return std::min({1.0, now / kWarmUp, left / (1 - kWarmUp)});
}

// Momentum that a worker adds up over its own gradients before it pushes them ("momentum correction" of Deep Gradient
// Compression, section 3.2). Replicas meanwhile take plain steps with the results. Uncompressed that is training with
// momentum, whoever adds it up. What an encoding holds back, though, comes in lumps, which momentum after them would
// draw out for ten more rounds. Thread-compatible; owned by whoever pushes.
class LocalMomentum {
 public:
  // 0 leaves gradients as they are.
  explicit LocalMomentum(double factor) : factor_(static_cast<float>(factor)) {}

  // The tensor's next gradient becomes the sum of all so far, each worth `factor` of the one after it. REQUIRES: always
  // as many elements for a tensor.
  void AddTo(size_t tensor, absl::Span<float> gradient);

 private:
  float factor_;
  std::vector<std::vector<float>> sums_;  // by tensor; empty before the first
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_WORKER_TRAINING_H_
