// How the training of a demo gets on, and what it must come to.
#ifndef BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_
#define BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/reports/training_progress.h"

namespace banyan {

// A process of the demo that has failed at least once. Value.
struct DemoProcess {
  std::string name;  // "node n3"
  int failures = 0;
  bool is_up = false;   // runs again
  std::string failure;  // the last one: "signal 9 (Killed)"

  friend bool operator==(const DemoProcess&, const DemoProcess&) = default;
};

// The demo's knowledge of a training job while it runs: rounds, losses, synchronisation times, results, processes that
// have failed. Pure; thread-compatible.
//
// A worker that has died is waited for by nobody. It counts again from the first round on that it reports and that is
// not finished.
class DemoProgress {
 public:
  // REQUIRES: nodes > 0, workers > 0.
  DemoProgress(int nodes, int workers, int64_t rounds);

  // INVALID_ARGUMENT when a worker reports what cannot be: another worker's rank, a round twice. A worker that has been
  // lost may say again what it had said before.
  absl::Status Add(const TrainingProgress& progress);
  // The worker has died; a new one may take its place. REQUIRES: 0 <= rank < workers().
  void Lose(int rank);
  // Those of the demo that have failed at least once, as they are now.
  void SetProcesses(std::vector<DemoProcess> processes) { processes_ = std::move(processes); }

  int nodes() const { return nodes_; }
  int workers() const { return workers_; }
  int64_t rounds() const { return rounds_; }
  const std::vector<DemoProcess>& processes() const { return processes_; }
  // How often processes have failed.
  int failures() const;
  // Rounds that every worker has finished that takes part.
  int64_t finished_rounds() const { return finished_rounds_; }
  // Returns the loss of the last finished round, the mean over the workers.
  double loss() const { return loss_; }
  // Returns the time that the last finished round took, from the last worker's push to the last worker's completed
  // pull.
  absl::Duration sync_time() const { return sync_times_.empty() ? absl::ZeroDuration() : sync_times_.back(); }
  absl::Duration median_sync_time() const;

  // Returns whether every worker has told its result, those aside that were lost and do not take part again.
  bool all_finished() const;
  int finished_workers() const { return static_cast<int>(results_.size()); }
  // Returns whether all workers that have a result have ended with the same bits. REQUIRES: all_finished().
  bool replicas_identical() const;
  // Returns the accuracy that a worker measured; empty before.
  std::optional<double> accuracy() const;

 private:
  struct OpenRound {
    std::map<int, RoundProgress> by_rank;
  };
  struct Worker {
    bool is_lost = false;
    bool was_lost = false;
    int64_t first_round = 1;  // of its present start; earlier ones wait for it no more
  };
  absl::Status AddRound(const RoundProgress& round);
  absl::Status AddResult(const TrainingResult& result);
  // Whether all that take part have reported the round, which is the first open one.
  bool IsComplete(int64_t number, const OpenRound& round) const;
  void FinishRounds();
  void Finish(const OpenRound& round);

  const int nodes_;
  const int workers_;
  const int64_t rounds_;
  std::vector<Worker> by_rank_;
  bool was_anybody_lost_ = false;
  std::map<int64_t, OpenRound> open_;
  int64_t finished_rounds_ = 0;
  std::vector<absl::Duration> sync_times_;  // of finished rounds
  double loss_ = 0;
  std::map<int, TrainingResult> results_;
  std::vector<DemoProcess> processes_;
};

// Checks that all replicas are identical and that the test accuracy is at least `least_accuracy`, a part of 1.
// DATA_LOSS tells of replicas that differ, OUT_OF_RANGE names the accuracy that was expected and the one that was
// reached. REQUIRES: progress.all_finished().
absl::Status CheckTraining(const DemoProgress& progress, double least_accuracy);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_PROGRESS_H_
