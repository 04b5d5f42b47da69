#include "tools/demo/demo_run.h"

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

namespace banyan {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
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
  DemoRun(DemoJob& job, const DemoNetwork& network, int nodes, int64_t rounds, const StopSignals& signals,
          DemoScreen& screen)
      : job_(job),
        network_(network),
        signals_(signals),
        screen_(screen),
        progress_(nodes, job.worker_count(), rounds) {}

  // Until every training process has told its result.
  absl::Status Train() {
    while (!progress_.all_finished()) {
      if (signals_.received()) return absl::CancelledError("interrupted");
      if (absl::Status status = TakeProgress(); !status.ok()) return status;
      if (absl::Status status = Check(); !status.ok()) return status;
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
  absl::Status Check() {
    const absl::Status job = job_.Check();
    const absl::Status network = network_.Check(job.ok() ? absl::ZeroDuration() : kNetworkEnds);
    return network.ok() ? job : network;
  }

  absl::Duration Elapsed() const { return absl::Now() - started_; }

  absl::Status TakeProgress() {
    absl::StatusOr<std::vector<TrainingProgress>> taken = job_.TakeProgress(signals_.fd(), kTick);
    if (!taken.ok()) return taken.status();
    for (const TrainingProgress& progress : *taken) {
      if (absl::Status status = progress_.Add(progress); !status.ok()) return status;
    }
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
  DemoProgress progress_;
  DemoNetworkState network_state_;
  const absl::Time started_ = absl::Now();
  absl::Duration next_wan_look_;
  std::string state_ = "waiting for the scheduler";
};

}  // namespace

absl::StatusOr<DemoResult> RunDemo(const DemoJobOptions& options, int64_t rounds, const StopSignals& signals,
                                   const DemoNetwork& network, const WorkDirectory& directory, DemoScreen& screen) {
  absl::StatusOr<std::unique_ptr<DemoJob>> job = DemoJob::Start(options, network, directory);
  if (!job.ok()) return job.status();
  DemoRun run(**job, network, static_cast<int>(options.nodes.size()), rounds, signals, screen);
  if (absl::Status status = run.Train(); !status.ok()) return status;
  run.TakeLastReports();
  if (absl::Status status = (*job)->Stop(); !status.ok()) return status;
  return run.TakeResult();
}

}  // namespace banyan
