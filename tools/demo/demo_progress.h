// The demo's knowledge of a training job while it runs: rounds, losses, synchronisation times, results. Pure;
// thread-compatible.
#ifndef BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_
#define BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/reports/training_progress.h"

namespace banyan {

class DemoProgress {
 public:
  // REQUIRES: nodes > 0, workers > 0.
  DemoProgress(int nodes, int workers, int64_t rounds);

  // INVALID_ARGUMENT when a worker reports what cannot be: another worker's rank, a round twice.
  absl::Status Add(const TrainingProgress& progress);

  int nodes() const { return nodes_; }
  int workers() const { return workers_; }
  int64_t rounds() const { return rounds_; }
  // Rounds that every worker has finished.
  int64_t finished_rounds() const { return static_cast<int64_t>(sync_times_.size()); }
  // Returns the loss of the last finished round, the mean over the workers.
  double loss() const { return loss_; }
  // Returns the time that the last finished round took, from the last worker's push to the last worker's completed
  // pull.
  absl::Duration sync_time() const { return sync_times_.empty() ? absl::ZeroDuration() : sync_times_.back(); }
  absl::Duration median_sync_time() const;

  bool all_finished() const { return static_cast<int>(results_.size()) == workers_; }
  // Returns whether all workers have ended with the same bits. REQUIRES: all_finished().
  bool replicas_identical() const;
  // Returns the accuracy that a worker measured; empty before.
  std::optional<double> accuracy() const;

 private:
  struct OpenRound {
    std::map<int, RoundProgress> by_rank;
  };
  absl::Status AddRound(const RoundProgress& round);
  absl::Status AddResult(const TrainingResult& result);
  void Finish(const OpenRound& round);

  const int nodes_;
  const int workers_;
  const int64_t rounds_;
  std::map<int64_t, OpenRound> open_;
  std::vector<absl::Duration> sync_times_;  // of round 1, 2, ...
  double loss_ = 0;
  std::map<int, TrainingResult> results_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_
