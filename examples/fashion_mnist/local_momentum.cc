#include "examples/fashion_mnist/local_momentum.h"

#include <algorithm>

namespace banyan {

void LocalMomentum::AddTo(size_t tensor, absl::Span<float> gradient) {
  if (factor_ == 0) return;
  if (tensor >= sums_.size()) sums_.resize(tensor + 1);
  std::vector<float>& sum = sums_[tensor];
  sum.resize(gradient.size());
  for (size_t i = 0; i < gradient.size(); ++i) sum[i] = factor_ * sum[i] + gradient[i];
  std::copy(sum.begin(), sum.end(), gradient.begin());
}

}  // namespace banyan
