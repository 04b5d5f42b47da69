// Trains a Classifier together with the other workers of the job: gradients go through a Session, every replica takes
// the same step with the aggregated ones. Blocking; use from one thread.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_TRAINING_LOOP_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_TRAINING_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/worker_training.h"
#include "runtime/session/session.h"
#include "tools/reports/training_progress.h"

namespace banyan {

class TrainingLoop {
 public:
  // Who turns the aggregated gradients into new parameters: this replica, or the nodes with the job's own optimizer,
  // whose rounds give the parameters themselves.
  enum class Stepper : uint8_t { kReplica, kNodes };

  // Both outlive it. `rank` is this worker's among all of the job. `momentum` is of its own gradients, 0 for none; the
  // classifier's steps are to be plain ones then.
  TrainingLoop(Session& session, Classifier& classifier, int rank, double momentum = 0,
               Stepper stepper = Stepper::kReplica)
      : session_(session), classifier_(classifier), rank_(rank), stepper_(stepper), momentum_(momentum) {}

  // Gives every replica the same parameters: those of the job's first worker. Waits for all nodes to join.
  absl::Status ShareParameters();

  // Shares this replica's training state, and takes that of the others if they have trained without it. Returns how
  // many steps are done: 0 where this worker begins with all others. REQUIRES: ShareParameters was called.
  absl::StatusOr<int64_t> JoinTraining();

  // One step with the gradients that all workers' batches make together. The error names the node, the key and the
  // round.
  absl::StatusOr<RoundProgress> TrainRound(const Batch& batch);

 private:
  // For jobs whose compression prunes; nodes of others forget them at once.
  void RegisterWeights(std::vector<Ticket>& tickets);
  Ticket Exchange(size_t index);

  Session& session_;
  Classifier& classifier_;
  const int rank_;
  const Stepper stepper_;
  LocalMomentum momentum_;
  int64_t round_ = 0;
  bool shares_state_ = false;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_TRAINING_LOOP_H_
