#include "tools/demo/demo_run.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/reports/training_progress.h"

namespace banyan {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr char kProgressFile[] = "progress.jsonl";
constexpr absl::Duration kNetworkEnds = absl::Seconds(1);
constexpr absl::Duration kWanInterval = absl::Milliseconds(500);
// Nodes report their bytes once a heartbeat.
constexpr absl::Duration kLastReports = absl::Milliseconds(2200);

std::string StateOf(const StatusView& status) {
  if (!status.error.empty()) return absl::StrCat("the job has failed: ", status.error);
  if (!status.waiting_for.empty()) return absl::StrCat("waiting for ", absl::StrJoin(status.waiting_for, ", "));
  return "the training processes read their data and share their first parameters";
}

class DemoRun {
 public:
  DemoRun(DemoJob& job, const DemoNetwork& network, const std::string& progress_path, int nodes, int64_t rounds,
          const StopSignals& signals, DemoScreen& screen)
      : job_(job),
        network_(network),
        signals_(signals),
        screen_(screen),
        progress_file_(progress_path),
        progress_(nodes, job.worker_count(), rounds) {}

  // Until every training process has told its result.
  absl::Status Train() {
    while (!progress_.all_finished()) {
      if (signals_.received()) return absl::CancelledError("interrupted");
      if (absl::Status status = TakeProgress(); !status.ok()) return status;
      if (absl::Status status = Tend(); !status.ok()) return status;
      LookAround();
      screen_.Update(progress_, network_state_, state_, Elapsed());
    }
    return absl::OkStatus();
  }

  // The bytes that went over the links until the end.
  void TakeLastReports() {
    const absl::Time deadline = absl::Now() + kLastReports;
    while (absl::Now() < deadline && !signals_.received()) {
      absl::SleepFor(kTick);
      LookAround();
    }
    screen_.Finish(progress_, network_state_, Elapsed());
  }

  DemoResult TakeResult() { return {std::move(progress_), std::move(network_state_)}; }

 private:
  // Processes end without the network too. Its devices vanish a little before its own process has ended.
  absl::Status Tend() {
    const absl::Status job = job_.Tend();
    const absl::Status network = network_.Check(job.ok() ? absl::ZeroDuration() : kNetworkEnds);
    if (!network.ok()) return network;
    progress_.SetProcesses(job_.failed_processes());
    return job;
  }

  absl::Duration Elapsed() const { return absl::Now() - started_; }

  absl::Status TakeProgress() {
    absl::StatusOr<std::vector<TrainingProgress>> taken = job_.TakeProgress(signals_.fd(), kTick);
    if (!taken.ok()) return taken.status();
    for (const TrainingProgress& progress : *taken) {
      progress_file_ << FormatProgress(progress) << "\n";
      if (absl::Status status = progress_.Add(progress); !status.ok()) return status;
    }
    progress_file_.flush();
    // After the last that they have told.
    for (const int rank : job_.TakeLostWorkers()) progress_.Lose(rank);
    return absl::OkStatus();
  }

  void LookAround() {
    if (const std::optional<StatusView> status = job_.TakeStatus(); status.has_value()) {
      state_ = StateOf(*status);
      network_state_.Add(*status, Elapsed());
    }
    if (Elapsed() < next_wan_look_) return;
    next_wan_look_ = Elapsed() + kWanInterval;
    if (const std::optional<WanStatus> wan = network_.TakeWanStatus(); wan.has_value()) {
      network_state_.Add(*wan, Elapsed());
    }
  }

  DemoJob& job_;
  const DemoNetwork& network_;
  const StopSignals& signals_;
  DemoScreen& screen_;
  std::ofstream progress_file_;  // for those who watch the demo from outside
  DemoProgress progress_;
  DemoNetworkState network_state_;
  const absl::Time started_ = absl::Now();
  absl::Duration next_wan_look_;
  std::string state_ = "waiting for the scheduler";
};

// Makes the demo known to others as long as it lives.
class Announcement {
 public:
  explicit Announcement(const RunningJob& job) : directory_(job.directory), status_(WriteRunningJob(job)) {}
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;
  ~Announcement() { RemoveRunningJob(directory_); }
  const absl::Status& status() const { return status_; }

 private:
  const std::string directory_;
  const absl::Status status_;
};

}  // namespace

RunningJob DemoAsRunningJob(const DemoJobOptions& options, const DemoNetwork& network, const WorkDirectory& directory) {
  return {.directory = directory.path(),
          .pid = getpid(),
          .wan_directory = network.wan_directory(),
          .progress_path = directory.File(kProgressFile),
          .lost_after = options.lost_after};
}

absl::StatusOr<DemoResult> RunDemo(const DemoJobOptions& options, int64_t rounds, const StopSignals& signals,
                                   const DemoNetwork& network, const WorkDirectory& directory, DemoScreen& screen) {
  const RunningJob running = DemoAsRunningJob(options, network, directory);
  const Announcement announcement(running);
  if (!announcement.status().ok()) return announcement.status();
  absl::StatusOr<std::unique_ptr<DemoJob>> job = DemoJob::Start(options, network, directory);
  if (!job.ok()) return job.status();
  DemoRun run(**job, network, running.progress_path, static_cast<int>(options.nodes.size()), rounds, signals, screen);
  if (absl::Status status = run.Train(); !status.ok()) return status;
  run.TakeLastReports();
  if (absl::Status status = (*job)->Stop(); !status.ok()) return status;
  return run.TakeResult();
}

}  // namespace banyan
