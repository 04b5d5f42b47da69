// A residual network with batch normalization on grey images, as a guided model: a small sibling of the ResNet-18 of
// NEURON-Fabric's Table 3. Three blocks of two convolutions each, with 16, 32 and 64 channels. Its optimizer is
// gradient descent with momentum after the reduction. Each worker normalizes by its own batch; what the test images are
// normalized by is averaged over all workers. Its numbers are a function of the seed, on machines of one kind.
#ifndef BANYAN_EXAMPLES_PRECISION_RESIDUAL_MODEL_H_
#define BANYAN_EXAMPLES_PRECISION_RESIDUAL_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/precision/guided_model.h"
#include "examples/precision/image_shards.h"

namespace banyan {

class ResidualModel : public GuidedModel {
 public:
  // As ImageModel.
  ResidualModel(const ImageModelOptions& options, const ImageSet& training_images, const ImageSet& test_images);
  ~ResidualModel() override;

  absl::Span<const Parameter> parameters() const override;
  double ComputeGradients(int64_t worker, int64_t label_shift) override;
  void ApplyGradients(double learning_rate) override;
  ModelQuality Measure() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_RESIDUAL_MODEL_H_
