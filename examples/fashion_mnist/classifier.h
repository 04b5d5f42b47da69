// A small convolutional network for 28 x 28 grey images with its optimizer: two convolutions with pooling, two full
// layers. Its numbers are a function of the seed, the batches and the gradients given back, the same on every machine
// of one kind. Thread-compatible; several may live in one process, but construct them one after the other (LibTorch has
// one global seed).
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_CLASSIFIER_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_CLASSIFIER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "examples/fashion_mnist/image_set.h"

namespace banyan {

struct ClassifierOptions {
  uint64_t seed = 1;
  double learning_rate = 0.08;
  bool adam = false;     // instead of plain gradient descent
  int64_t hidden = 128;  // neurons between the full layers, by which the model grows: 811 parameters for each
};

// Keeps LibTorch to one thread: nine training processes share a machine. Call once per process, before the first
// Classifier.
void UseOneThread();

class Classifier {
 public:
  // One tensor of the network. The spans live as long as the Classifier.
  struct Parameter {
    std::string name;
    absl::Span<float> values;
    absl::Span<float> gradient;  // what ApplyGradients() uses
    int64_t rows = 1;            // of a matrix, and the output channels of a convolution
  };

  // A piece of what another replica needs to train on from here.
  struct StatePiece {
    std::string name;
    absl::Span<uint8_t> bytes;
  };

  explicit Classifier(const ClassifierOptions& options);
  ~Classifier();

  // In the order in which the next forward pass needs them.
  const std::vector<Parameter>& parameters() const;

  // Writes the gradients of the mean loss over `batch` and returns that loss. `on_gradient` is called with the index of
  // each parameter as soon as its gradient is written. The last layers come first, while the others are still being
  // computed.
  double ComputeGradients(const Batch& batch, const std::function<void(size_t)>& on_gradient);

  // From the next step on.
  void SetLearningRate(double learning_rate);

  // One step of the optimizer along what stands in the parameters' `gradient`.
  void ApplyGradients();

  // The fraction of `images` whose label the network tells, in [0, 1]. REQUIRES: there is an image.
  double MeasureAccuracy(const ImageSet& images);

  // The parameters, and all that the optimizer keeps from one step to the next. The spans live as long as the
  // Classifier; what is written into them counts from the next step on.
  std::vector<StatePiece> TrainingState();

  // Of the bits of all values.
  uint64_t HashValues() const;

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_CLASSIFIER_H_
