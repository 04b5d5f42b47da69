// All replicas of a job as one model. Replicas are identical bit by bit, so the gradients of every worker come from the
// same parameters. Each round's result is taken in once, as soon as the first worker has it. Trains a Classifier on the
// images inside a simulated job. Thread-compatible; called on the simulation's thread.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_REPLICA_TRAINER_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_REPLICA_TRAINER_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "examples/fashion_mnist/batch_order.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/local_momentum.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/gradient_source.h"
#include "sim/training/training_plan.h"

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

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_REPLICA_TRAINER_H_
