// One training of `banyan bench accuracy`: the example's network on the images, in simulated time. Blocking; one at a
// time.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RUN_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RUN_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "examples/fashion_mnist/accuracy/accuracy_table.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/worker_training.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/training_plan.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

struct ReplicaTrainerOptions {
  ClassifierOptions model;  // its learning rate is the highest, see LearningRatePart
  double momentum = 0.9;    // of each worker's gradients, see LocalMomentum
  int64_t batch = 16;       // images of each worker in each round
  uint64_t rounds = 1;
  uint64_t measurements = 1;  // of the accuracy, evenly spread, the last after the last round
  // Of the test images, for all measurements but the last: what only shows how training goes on need not take long.
  int64_t sampled_images = 2000;
};

// All replicas of a job as one model. Replicas are identical bit by bit, so the gradients of every worker come from the
// same parameters. Each round's result is taken in once, as soon as the first worker has it. Trains a Classifier on the
// images inside a simulated job. Thread-compatible; called on the simulation's thread.
class ReplicaTrainer : public GradientSource, public WorkerListener {
 public:
  struct Measurement {
    uint64_t round = 0;  // after it
    double accuracy = 0;
  };

  // Each worker has a part of the training images, in the order of `workers`. The images outlive this.
  // REQUIRES: UseOneThread() was called; each part has a batch.
  ReplicaTrainer(const ReplicaTrainerOptions& options, absl::Span<const WorkerName> workers,
                 const ImageSet* training_images, const ImageSet* test_images);

  // What the simulated workers push.
  std::vector<TrainingPlan::Tensor> tensors() const;

  void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) override;
  void FillWeights(size_t tensor, absl::Span<float> values) override;
  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override;

  const std::vector<Measurement>& measurements() const { return measurements_; }
  // Of all batches of a round, the mean, round by round.
  const std::vector<double>& losses() const { return losses_; }
  uint64_t HashValues() const { return classifier_.HashValues(); }

 private:
  struct Shard {
    ImageSet images;
    BatchOrder order;
    LocalMomentum momentum;
  };

  void ComputeGradients(WorkerName worker, Round round);
  void TakeStep();

  const ReplicaTrainerOptions options_;
  const ImageSet* const test_images_;
  const ImageSet sample_images_;
  Classifier classifier_;
  std::map<WorkerName, Shard> shards_;
  // Whose momentum the classifier's gradients are.
  std::pair<WorkerName, Round> computed_;
  // Of the round that is being heard of: the results by tensor, empty for those not heard of.
  std::vector<std::vector<float>> results_;
  size_t heard_ = 0;
  Round taken_ = Round(0);
  std::vector<Measurement> measurements_;
  std::vector<double> losses_;
};

// What all trainings of a table have in common.
struct AccuracySetup {
  OverlayConfig overlay;  // with the rates of kReferenceMbps
  ImageSplits images;
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
