#include "examples/precision/image_model.h"

#include <utility>

namespace banyan {

ImageModel::ImageModel(const ImageModelOptions& options, const ImageSet& training_images, const ImageSet& test_images)
    : test_images_(test_images), classifier_({.seed = options.seed}), momentum_(options.momentum) {
  for (const Classifier::Parameter& parameter : classifier_.parameters()) {
    parameters_.push_back({parameter.name, parameter.gradient});
  }
  for (int64_t rank = 0; rank < options.workers; ++rank) {
    ImageSet images = TakeShard(training_images, static_cast<int>(rank), static_cast<int>(options.workers));
    BatchOrder order(images.size(), options.batch,
                     options.seed * static_cast<uint64_t>(options.workers) + static_cast<uint64_t>(rank));
    shards_.push_back({std::move(images), std::move(order)});
  }
}

double ImageModel::ComputeGradients(int64_t worker, int64_t label_shift) {
  Shard& shard = shards_[static_cast<size_t>(worker)];
  Batch batch = MakeBatch(shard.images, shard.order.Next());
  for (int64_t& label : batch.labels) label = (label + label_shift) % kClasses;
  return classifier_.ComputeGradients(batch, [](size_t) {});
}

void ImageModel::ApplyGradients(double learning_rate) {
  for (size_t i = 0; i < parameters_.size(); ++i) momentum_.AddTo(i, parameters_[i].gradient);
  classifier_.SetLearningRate(learning_rate);
  classifier_.ApplyGradients();
}

ModelQuality ImageModel::Measure() { return {classifier_.MeasureAccuracy(test_images_)}; }

}  // namespace banyan
