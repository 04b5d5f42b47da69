#include "examples/precision/image_model.h"

namespace banyan {

ImageModel::ImageModel(const ImageModelOptions& options, const ImageSet& training_images, const ImageSet& test_images)
    : test_images_(test_images),
      classifier_({.seed = options.seed}),
      momentum_(options.momentum),
      shards_(options, training_images) {
  for (const Classifier::Parameter& parameter : classifier_.parameters()) {
    parameters_.push_back({parameter.name, parameter.gradient, parameter.values, parameter.rows});
  }
}

double ImageModel::ComputeGradients(int64_t worker, int64_t label_shift) {
  return classifier_.ComputeGradients(shards_.Next(worker, label_shift), [](size_t) {});
}

void ImageModel::ApplyGradients(double learning_rate) {
  for (size_t i = 0; i < parameters_.size(); ++i) momentum_.AddTo(i, parameters_[i].gradient);
  classifier_.SetLearningRate(learning_rate);
  classifier_.ApplyGradients();
}

ModelQuality ImageModel::Measure() { return {classifier_.MeasureAccuracy(test_images_)}; }

}  // namespace banyan
