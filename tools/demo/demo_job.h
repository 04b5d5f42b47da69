// The processes of a demo: a scheduler, its nodes, the training processes beside them, and one that asks the scheduler
// for its status, in a network that is there already. Who dies is started again, under the same name and address. None
// outlives the object. Thread-compatible; the thread that starts it must live as long.
#ifndef BANYAN_TOOLS_DEMO_DEMO_JOB_H_
#define BANYAN_TOOLS_DEMO_DEMO_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/work_directory.h"
#include "proto/status.h"
#include "tools/demo/demo_network.h"
#include "tools/demo/demo_overlay.h"
#include "tools/demo/demo_progress.h"
#include "tools/reports/training_progress.h"
#include "tools/supervision/process_record.h"
#include "tools/supervision/supervised_process.h"

namespace banyan {

struct DemoJobOptions {
  std::string banyan_program;
  std::string trainer_program;
  std::string overlay;        // the text of the file
  absl::Duration lost_after;  // as in the overlay, for those who watch
  std::vector<DemoNode> nodes;
  std::vector<std::string> trainer_arguments;  // the same for all: rounds, batch, optimizer
  // Gets each status that TakeStatus sees, as JSON.
  std::function<void(const JobStatus& status)> on_status = nullptr;
};

class DemoJob {
 public:
  // Starts everything. `directory` gets the logs, the sockets, the overlay, the scheduler's state and the records of
  // processes; it and the network, which is for the nodes of `options`, outlive the job.
  static absl::StatusOr<std::unique_ptr<DemoJob>> Start(const DemoJobOptions& options, const DemoNetwork& network,
                                                        const WorkDirectory& directory);
  DemoJob(const DemoJob&) = delete;
  DemoJob& operator=(const DemoJob&) = delete;
  // Stops.
  ~DemoJob();

  int worker_count() const { return static_cast<int>(trainers_.size()); }

  // Returns what the training processes have told since the last call. Waits for it, or for `stop_fd` to become
  // readable, `timeout` at most.
  absl::StatusOr<std::vector<TrainingProgress>> TakeProgress(int stop_fd, absl::Duration timeout);

  // The scheduler's last status since the last call; nothing when none came.
  std::optional<JobStatus> TakeStatus();

  // Starts again who has failed. An error as soon as a process is gone for good that should not be. It has failed
  // again and again at once, or it is a daemon that has ended with success. It names all such processes and shows the
  // end of their logs.
  absl::Status Tend();

  // Returns the training processes that have failed since the last call, by their ranks. What they had told is there
  // for TakeProgress before.
  std::vector<int> TakeLostWorkers();

  // Returns those that have failed at least once.
  std::vector<DemoProcess> failed_processes() const;

  // Lets training processes, nodes and scheduler end in this order, and kills what does not in time. UNAVAILABLE names
  // what was killed or failed.
  absl::Status Stop();

 private:
  DemoJob(const DemoJobOptions& options, const DemoNetwork& network, const WorkDirectory& directory)
      : options_(options), network_(network), directory_(directory) {}

  using Processes = std::vector<std::unique_ptr<SupervisedProcess>>;

  absl::Status StartAll();
  absl::Status Launch(SupervisionOptions options, Processes& processes);
  absl::Status StartScheduler();
  absl::Status StartNode(size_t index);
  // True if a training process beside the node has failed: a node may end by itself when the job is over.
  bool IsMissed(size_t node) const;
  absl::Status TendTrainer(size_t rank);
  absl::Status StartTrainer(size_t index, int worker, int world);

  const DemoJobOptions options_;
  const DemoNetwork& network_;
  const WorkDirectory& directory_;
  Processes services_;  // the scheduler, and what asks it for its status
  Processes nodes_;
  Processes trainers_;                   // by rank
  std::vector<size_t> node_of_trainer_;  // by rank
  std::vector<int> lost_workers_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_JOB_H_
