// The arguments of the example's training process.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_TRAINER_OPTIONS_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_TRAINER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/types/span.h"
#include "examples/fashion_mnist/image_set.h"

namespace banyan {

struct TrainerOptions {
  std::string node;         // the node's worker socket, unix:/path
  int64_t worker = 0;       // among those of the node
  int64_t rank = 0;         // among all of the job
  int64_t world = 1;        // how many there are in all
  int64_t rounds = 600;     // steps, or groups of local steps
  int64_t local_steps = 0;  // between two rounds; 0: each step is one
  int64_t epochs = 0;       // when not 0, instead of rounds: how often to go over the images
  int64_t batch = 32;
  int64_t seed = 1;
  std::string optimizer = "adam";
  double learning_rate = 0;  // the highest (see LearningRatePart)
  int64_t hidden = 128;      // neurons of the hidden full layer
  std::string data = kFashionMnistDirectory;
  bool json = false;
};

// Fills `options`. Returns the exit code when the process ends here: after --help or a usage error.
std::optional<int> ParseTrainerOptions(absl::Span<const std::string> arguments, TrainerOptions& options,
                                       std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_TRAINER_OPTIONS_H_
