#include "node/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "compression/vector_clones.h"
#include "compression/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

struct AdamFactors {
  float beta1;
  float beta2;
  float one_minus_beta1;
  float one_minus_beta2;
  float correction1;  // 1 / (1 - beta1^step)
  float correction2;
  float epsilon;
};

// In each loop `update` holds the gradient before and the update after.

BANYAN_VECTOR_CLONES void Decay(float decay, const float* __restrict values, float* __restrict update, size_t count) {
  for (size_t i = 0; i < count; ++i) update[i] += decay * values[i];
}

BANYAN_VECTOR_CLONES void Sgd(float rate, float* update, size_t count) {
  for (size_t i = 0; i < count; ++i) update[i] = -rate * update[i];
}

BANYAN_VECTOR_CLONES void Momentum(float rate, float mu, float* __restrict velocity, float* __restrict update,
                                   size_t count) {
  for (size_t i = 0; i < count; ++i) {
    velocity[i] = mu * velocity[i] + update[i];
    update[i] = -rate * velocity[i];
  }
}

BANYAN_VECTOR_CLONES void Nesterov(float rate, float mu, float* __restrict velocity, float* __restrict update,
                                   size_t count) {
  for (size_t i = 0; i < count; ++i) {
    velocity[i] = mu * velocity[i] + update[i];
    update[i] = -rate * (update[i] + mu * velocity[i]);
  }
}

BANYAN_VECTOR_CLONES void Adam(float rate, AdamFactors f, float* __restrict m, float* __restrict v,
                               float* __restrict update, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float g = update[i];
    m[i] = f.beta1 * m[i] + f.one_minus_beta1 * g;
    v[i] = f.beta2 * v[i] + f.one_minus_beta2 * g * g;
    update[i] = -rate * (m[i] * f.correction1) / (std::sqrt(v[i] * f.correction2) + f.epsilon);
  }
}

AdamFactors FactorsOf(const AggregationConfig& config, uint64_t step) {
  const double t = static_cast<double>(step);
  return {.beta1 = static_cast<float>(config.beta1),
          .beta2 = static_cast<float>(config.beta2),
          .one_minus_beta1 = static_cast<float>(1 - config.beta1),
          .one_minus_beta2 = static_cast<float>(1 - config.beta2),
          .correction1 = static_cast<float>(1 / (1 - std::pow(config.beta1, t))),
          .correction2 = static_cast<float>(1 / (1 - std::pow(config.beta2, t))),
          .epsilon = static_cast<float>(config.epsilon)};
}

}  // namespace

bool IsOptimizer(AggregationOp op) { return op != AggregationOp::kSum && op != AggregationOp::kMean; }

void ApplyOptimizer(const AggregationConfig& config, absl::Span<const float> sum, uint32_t weight,
                    absl::Span<const float> values, OptimizerSlices slices, absl::Span<float> update) {
  const size_t count = sum.size();
  const bool decays = config.weight_decay != 0;
  BANYAN_CHECK(IsOptimizer(config.op) && weight > 0);
  BANYAN_CHECK(update.size() == count && (!decays || values.size() == count));
  const float rate = static_cast<float>(config.learning_rate);
  const float mu = static_cast<float>(config.momentum);
  if (update.data() != sum.data()) std::copy(sum.begin(), sum.end(), update.begin());
  Scale(update, 1.0f / static_cast<float>(weight));
  if (decays) Decay(static_cast<float>(config.weight_decay), values.data(), update.data(), count);
  if (config.op == AggregationOp::kSgd) return Sgd(rate, update.data(), count);
  absl::Span<float> first = slices.first_moment.mutable_floats();
  BANYAN_CHECK(first.size() == count);
  if (config.op == AggregationOp::kMomentum) return Momentum(rate, mu, first.data(), update.data(), count);
  if (config.op == AggregationOp::kNesterov) return Nesterov(rate, mu, first.data(), update.data(), count);
  absl::Span<float> second = slices.second_moment.mutable_floats();
  BANYAN_CHECK(second.size() == count && slices.step > 0);
  Adam(rate, FactorsOf(config, slices.step), first.data(), second.data(), update.data(), count);
}

}  // namespace banyan
