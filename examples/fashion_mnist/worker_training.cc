#include "examples/fashion_mnist/worker_training.h"

#include <numeric>
#include <utility>

#include "core/check.h"

namespace banyan {

BatchOrder::BatchOrder(int64_t samples, int64_t batch, uint64_t seed) : batch_(batch), random_(seed), order_(samples) {
  BANYAN_CHECK(0 < batch && batch <= samples);
  std::iota(order_.begin(), order_.end(), 0);
  Shuffle();
}

absl::Span<const int64_t> BatchOrder::Next() {
  if (position_ + batch_ > static_cast<int64_t>(order_.size())) {
    Shuffle();
    position_ = 0;
  }
  position_ += batch_;
  return absl::MakeConstSpan(order_).subspan(position_ - batch_, batch_);
}

void BatchOrder::Skip(int64_t batches) {
  for (int64_t i = 0; i < batches; ++i) (void)Next();
}

// Fisher and Yates.
void BatchOrder::Shuffle() {
  for (size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random_.Below(i + 1)]);
}

void LocalMomentum::AddTo(size_t tensor, absl::Span<float> gradient) {
  if (factor_ == 0) return;
  if (tensor >= sums_.size()) sums_.resize(tensor + 1);
  std::vector<float>& sum = sums_[tensor];
  sum.resize(gradient.size());
  for (size_t i = 0; i < gradient.size(); ++i) sum[i] = factor_ * sum[i] + gradient[i];
  std::copy(sum.begin(), sum.end(), gradient.begin());
}

}  // namespace banyan
