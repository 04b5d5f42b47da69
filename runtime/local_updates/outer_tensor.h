// One tensor of a model that is trained by local updates: what all workers have, and what this one has. Pure
// arithmetic. Thread-compatible; owned by UpdateFragment.
//
// Invariants:
// - The outer parameters are float32, whatever the model's type. The model is rounded once, and so is what travels.
#ifndef BANYAN_RUNTIME_LOCAL_UPDATES_OUTER_TENSOR_H_
#define BANYAN_RUNTIME_LOCAL_UPDATES_OUTER_TENSOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/tensor_view.h"

namespace banyan {

// Of SGD with Nesterov momentum, as torch.optim.SGD has it.
struct OuterStep {
  double learning_rate = 0;
  double momentum = 0;
};

class OuterTensor {
 public:
  // `model` stays the caller's memory, which is read here. REQUIRES: it is of float32, float16 or bfloat16.
  OuterTensor(TensorView model, bool has_momentum);

  // Makes the model as it is what all have.
  void Begin();
  // Makes what travels `weight` times how far the model is behind the outer parameters.
  void Compare(double weight);
  // What travels, of the model's type: this worker's gradient, and then the result in its place.
  TensorView exchanged();
  // Moves the outer parameters along the result. That is divided by the mean weight, and is zero where nobody had any.
  void Move(const OuterStep& step, double mean_weight);
  // Sets the model to the outer parameters, but for a share `alpha` of what it has. What travels then is anything.
  void Load(double alpha);

  // The outer parameters.
  absl::Span<float> parameters() { return absl::MakeSpan(parameters_); }
  // Empty without momentum.
  absl::Span<float> momentum() { return absl::MakeSpan(momentum_); }

 private:
  TensorView model_;
  std::vector<float> parameters_;
  std::vector<float> momentum_;
  std::vector<float> gradient_;
  std::vector<uint16_t> halves_;  // the gradient as it travels; empty for models of float32
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_LOCAL_UPDATES_OUTER_TENSOR_H_
