// Training without a model, for tests: workers push made-up gradients of several tensors in step, and the results are
// compared with the exact sums. Gradients are small whole numbers, so that sums are exact in whatever order they are
// made. Thread-compatible.
#ifndef BANYAN_TESTS_TEST_TRAINING_H_
#define BANYAN_TESTS_TEST_TRAINING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"

namespace banyan {

class TestTraining {
 public:
  struct Tensor {
    std::string key;
    int64_t elements = 0;
  };

  // The sessions are one per worker, those of the lowest worker of the lowest node first; they outlive this.
  TestTraining(std::vector<Session*> sessions, std::vector<Tensor> tensors);

  // Each worker initialises with other values; all must get those of the first.
  void Init();
  // One round of all tensors: all workers push and pull, and all must get the exact mean.
  void PushPullRound();
  // The same, with Push and then Pull; all must get the exact sum if `is_sum`, else the mean.
  void PushThenPullRound(bool is_sum);
  // All must get the values of the first worker.
  void BroadcastRound();

  // The first error of a round, which is not looked at further.
  absl::Status TryRound();
  // The round's tickets, one for each worker and tensor. `skipped` workers do not push.
  std::vector<Ticket> StartRound(size_t skipped = 0);
  // Waits for a round that all workers have started; all must get the exact mean.
  void FinishRound(std::vector<Ticket> tickets);

 private:
  // What happens to one tensor in one round.
  struct State {
    Tensor tensor;
    std::vector<std::vector<float>> gradients;  // by worker
    std::vector<std::vector<float>> results;    // by worker
    std::vector<float> sum;
  };
  enum class Expected { kMean, kSum, kFirst };

  void MakeGradients();
  void Check(Expected expected) const;
  bool IsRight(const State& state, size_t element, Expected expected) const;

  std::vector<Session*> sessions_;
  std::vector<State> states_;
  uint64_t round_ = 0;  // makes the gradients of each round different
};

// The addresses of sessions that somebody else owns.
std::vector<Session*> Addresses(const std::vector<std::unique_ptr<Session>>& sessions);

}  // namespace banyan

#endif  // BANYAN_TESTS_TEST_TRAINING_H_
