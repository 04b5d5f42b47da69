#include "node/rounds/optimizer.h"

#include <cmath>
#include <cstddef>

#include "compression/kernels/kernel_body.h"
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

// In each step `values` holds the gradient before, and the new parameters after.

BANYAN_VECTOR_CLONES void Decay(float decay, const float* __restrict parameters, float* __restrict values,
                                size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] += decay * parameters[i];
}

BANYAN_VECTOR_CLONES void Sgd(float rate, float* __restrict parameters, float* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = parameters[i] += -rate * values[i];
}

BANYAN_VECTOR_CLONES void Momentum(float rate, float mu, float* __restrict velocity, float* __restrict parameters,
                                   float* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    velocity[i] = mu * velocity[i] + values[i];
    values[i] = parameters[i] += -rate * velocity[i];
  }
}

BANYAN_VECTOR_CLONES void Nesterov(float rate, float mu, float* __restrict velocity, float* __restrict parameters,
                                   float* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    velocity[i] = mu * velocity[i] + values[i];
    values[i] = parameters[i] += -rate * (values[i] + mu * velocity[i]);
  }
}

BANYAN_VECTOR_CLONES void Adam(float rate, AdamFactors f, float* __restrict m, float* __restrict v,
                               float* __restrict parameters, float* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float g = values[i];
    m[i] = f.beta1 * m[i] + f.one_minus_beta1 * g;
    v[i] = f.beta2 * v[i] + f.one_minus_beta2 * g * g;
    values[i] = parameters[i] += -rate * (m[i] * f.correction1) / (std::sqrt(v[i] * f.correction2) + f.epsilon);
  }
}

// The C library's pow may round otherwise on another processor; multiplications do not.
double Power(double base, uint64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) power *= base;
  }
  return power;
}

AdamFactors FactorsOf(const AggregationConfig& config, uint64_t step) {
  return {.beta1 = static_cast<float>(config.beta1),
          .beta2 = static_cast<float>(config.beta2),
          .one_minus_beta1 = static_cast<float>(1 - config.beta1),
          .one_minus_beta2 = static_cast<float>(1 - config.beta2),
          .correction1 = static_cast<float>(1 / (1 - Power(config.beta1, step))),
          .correction2 = static_cast<float>(1 / (1 - Power(config.beta2, step))),
          .epsilon = static_cast<float>(config.epsilon)};
}

}  // namespace

bool IsOptimizer(AggregationOp op) { return op != AggregationOp::kSum && op != AggregationOp::kMean; }

void MakeStep(OptimizerStep& step, absl::Span<float> gradient) {
  const AggregationConfig& config = step.config;
  const size_t count = gradient.size();
  const absl::Span<float> parameters = step.parameters.mutable_floats();
  BANYAN_CHECK(IsOptimizer(config.op) && step.slices.step > 0 && parameters.size() == count);
  const float rate = static_cast<float>(config.learning_rate);
  const float mu = static_cast<float>(config.momentum);
  float* const values = gradient.data();
  if (config.weight_decay != 0) Decay(static_cast<float>(config.weight_decay), parameters.data(), values, count);
  if (config.op == AggregationOp::kSgd) return Sgd(rate, parameters.data(), values, count);
  const absl::Span<float> first = step.slices.first_moment.mutable_floats();
  BANYAN_CHECK(first.size() == count);
  if (config.op == AggregationOp::kMomentum) return Momentum(rate, mu, first.data(), parameters.data(), values, count);
  if (config.op == AggregationOp::kNesterov) return Nesterov(rate, mu, first.data(), parameters.data(), values, count);
  const absl::Span<float> second = step.slices.second_moment.mutable_floats();
  BANYAN_CHECK(second.size() == count);
  Adam(rate, FactorsOf(config, step.slices.step), first.data(), second.data(), parameters.data(), values, count);
}

}  // namespace banyan
