// Which samples make up which batch: every epoch is a fresh permutation of all samples, a function of the seed alone.
// Thread-compatible.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_BATCH_ORDER_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_BATCH_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/random.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_BATCH_ORDER_H_
