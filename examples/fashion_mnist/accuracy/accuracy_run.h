// One training of `banyan bench accuracy`: the example's network on the images, in simulated time. Blocking; one at a
// time.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RUN_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RUN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "examples/fashion_mnist/accuracy/accuracy_result.h"
#include "examples/fashion_mnist/image_set.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// What all trainings of a table have in common.
struct AccuracySetup {
  OverlayConfig overlay;  // with the rates of kReferenceMbps
  ImageSet training_images;
  ImageSet test_images;
  absl::Duration compute_time;  // of a worker in each round
  AccuracyScenario scenario = AccuracyScenario::kStatic;
  int64_t epochs = 1;
  int64_t batch = 16;
  int64_t weights_every = 0;  // rounds after which workers register the model's weights; 0: never
  double target = 0.85;
  // Queues cut this share of chunks in levels to their heads, by chance.
  double trimmed = 0;
};

int64_t WorkerCount(const OverlayConfig& overlay);

// The parameters of the network that is trained.
int64_t ModelElements();

// A part of what an uncompressed synchronisation takes on the overlay, as kReferenceSynchronisation says.
absl::StatusOr<absl::Duration> CalibrateComputeTime(const OverlayConfig& overlay);

// INVALID_ARGUMENT when there are too few images for a batch of each worker; otherwise as SimulateTraining says.
absl::StatusOr<AccuracyResult> RunAccuracy(const AccuracySetup& setup, const CompressionConfig& compression,
                                           double mbps, uint64_t seed);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RUN_H_
