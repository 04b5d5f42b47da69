// A model with its data, as a guided training sees it: replicas of all workers are the same bit by bit, so one model
// computes the gradients of each worker in turn. Thread-compatible; owned by whoever trains it. Implementations:
// ImageModel, TextModel.
#ifndef BANYAN_EXAMPLES_PRECISION_GUIDED_MODEL_H_
#define BANYAN_EXAMPLES_PRECISION_GUIDED_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// On data that is held out of the training.
struct ModelQuality {
  double accuracy = 0;                        // the part of all labels, or next characters, that the model tells
  std::optional<double> nats = std::nullopt;  // per character, of a model of text
};

class GuidedModel {
 public:
  // A tensor of the model. The spans live as long as the model.
  struct Parameter {
    std::string name;
    absl::Span<float> gradient;
    absl::Span<float> values;
    int64_t rows = 1;  // of a matrix, and the output channels of a convolution
  };

  virtual ~GuidedModel() = default;

  virtual absl::Span<const Parameter> parameters() const = 0;

  // Writes the gradients of the mean loss over the next batch of `worker`, and returns that loss. `label_shift` other
  // than 0 gives the batch wrong labels.
  virtual double ComputeGradients(int64_t worker, int64_t label_shift) = 0;

  // One step of the model's optimizer along what stands in the parameters' `gradient`.
  virtual void ApplyGradients(double learning_rate) = 0;

  virtual ModelQuality Measure() = 0;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_GUIDED_MODEL_H_
