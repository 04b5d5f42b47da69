// The processes of a demo: a scheduler, its nodes, and the training processes beside them, all on the loopback
// interface. None outlives the object. Thread-compatible; the thread that starts it must live as long.
#ifndef BANYAN_TOOLS_DEMO_JOB_H_
#define BANYAN_TOOLS_DEMO_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/child_process.h"
#include "tools/demo_overlay.h"
#include "tools/port_reservation.h"
#include "tools/training_progress.h"
#include "tools/work_directory.h"

namespace banyan {

struct DemoJobOptions {
  std::string banyan_program;
  std::string trainer_program;
  std::string overlay;  // the text of the file
  std::vector<DemoNode> nodes;
  std::vector<std::string> trainer_arguments;  // the same for all: rounds, batch, optimizer
};

class DemoJob {
 public:
  // Starts everything. `directory` gets the logs, the sockets and the overlay; it outlives the job.
  static absl::StatusOr<std::unique_ptr<DemoJob>> Start(const DemoJobOptions& options, const WorkDirectory& directory);
  DemoJob(const DemoJob&) = delete;
  DemoJob& operator=(const DemoJob&) = delete;
  // Stops.
  ~DemoJob();

  const std::string& scheduler_address() const { return scheduler_address_; }
  int worker_count() const { return static_cast<int>(trainers_.size()); }

  // What the training processes have told since the last call; waits for it, or for `stop_fd` to become readable,
  // `timeout` at most.
  absl::StatusOr<std::vector<TrainingProgress>> TakeProgress(int stop_fd, absl::Duration timeout);

  // An error as soon as a process has ended that should not have: the scheduler or a node at all, a training process
  // with a failure. It names all such processes and shows the end of their logs.
  absl::Status Check();

  // Lets training processes, nodes and scheduler end in this order, and kills what does not in time. UNAVAILABLE names
  // what was killed or failed.
  absl::Status Stop();

 private:
  explicit DemoJob(PortReservation ports) : ports_(std::move(ports)) {}

  absl::Status StartAll(const DemoJobOptions& options, const WorkDirectory& directory);
  absl::Status StartNode(const DemoJobOptions& options, const WorkDirectory& directory, size_t index);
  absl::Status StartTrainer(const DemoJobOptions& options, const WorkDirectory& directory, const DemoNode& node,
                            int worker, int world);

  PortReservation ports_;  // of scheduler and nodes, for as long as they run
  std::string scheduler_address_;
  std::unique_ptr<ChildProcess> scheduler_;
  std::vector<std::unique_ptr<ChildProcess>> nodes_;
  std::vector<std::unique_ptr<ChildProcess>> trainers_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_JOB_H_
