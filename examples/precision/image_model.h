// The network of examples/fashion_mnist as a guided model. Its optimizer is gradient descent with momentum, which is
// added up after the reduction as each replica would.
#ifndef BANYAN_EXAMPLES_PRECISION_IMAGE_MODEL_H_
#define BANYAN_EXAMPLES_PRECISION_IMAGE_MODEL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/worker_training.h"
#include "examples/precision/guided_model.h"
#include "examples/precision/image_shards.h"

namespace banyan {

class ImageModel : public GuidedModel {
 public:
  // Each worker has a part of `training_images`. `test_images` outlives this. REQUIRES: UseOneThread() was called; each
  // part has a batch.
  ImageModel(const ImageModelOptions& options, const ImageSet& training_images, const ImageSet& test_images);

  absl::Span<const Parameter> parameters() const override { return parameters_; }
  double ComputeGradients(int64_t worker, int64_t label_shift) override;
  void ApplyGradients(double learning_rate) override;
  ModelQuality Measure() override;

 private:
  const ImageSet& test_images_;
  Classifier classifier_;
  LocalMomentum momentum_;
  std::vector<Parameter> parameters_;
  ImageShards shards_;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_IMAGE_MODEL_H_
