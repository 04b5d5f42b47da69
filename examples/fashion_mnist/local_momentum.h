// Momentum that a worker adds up over its own gradients before it pushes them ("momentum correction" of Deep Gradient
// Compression, section 3.2). Replicas meanwhile take plain steps with the results. Uncompressed that is training with
// momentum, whoever adds it up. What an encoding holds back, though, comes in lumps, which momentum after them would
// draw out for ten more rounds. Thread-compatible; owned by whoever pushes.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_LOCAL_MOMENTUM_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_LOCAL_MOMENTUM_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

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

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_LOCAL_MOMENTUM_H_
