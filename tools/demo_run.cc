#include "tools/demo_run.h"

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
#include "tools/status_feed.h"

namespace banyan {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kStatusInterval = absl::Milliseconds(500);
// Nodes report their bytes once a heartbeat.
constexpr absl::Duration kLastReports = absl::Milliseconds(2200);

std::string StateOf(const StatusView& status) {
  if (!status.error.empty()) return absl::StrCat("the job has failed: ", status.error);
  if (!status.waiting_for.empty()) return absl::StrCat("waiting for ", absl::StrJoin(status.waiting_for, ", "));
  return "the training processes read their data and share their first parameters";
}

class DemoRun {
 public:
  DemoRun(DemoJob& job, StatusFeed& feed, int nodes, int64_t rounds, const StopSignals& signals, DemoScreen& screen)
      : job_(job), feed_(feed), signals_(signals), screen_(screen), progress_(nodes, job.worker_count(), rounds) {}

  // Until every training process has told its result.
  absl::Status Train() {
    while (!progress_.all_finished()) {
      if (signals_.received()) return absl::CancelledError("interrupted");
      if (absl::Status status = TakeProgress(); !status.ok()) return status;
      if (absl::Status status = job_.Check(); !status.ok()) return status;
      TakeStatus();
      screen_.Update(progress_, state_, absl::Now() - started_);
    }
    return absl::OkStatus();
  }

  // The bytes that went over the links until the end.
  void TakeLastReports() {
    const absl::Time deadline = absl::Now() + kLastReports;
    while (absl::Now() < deadline && !signals_.received()) {
      absl::SleepFor(kTick);
      TakeStatus();
    }
    screen_.Finish(progress_, absl::Now() - started_);
  }

  DemoProgress TakeResult() { return std::move(progress_); }

 private:
  absl::Status TakeProgress() {
    absl::StatusOr<std::vector<TrainingProgress>> taken = job_.TakeProgress(signals_.fd(), kTick);
    if (!taken.ok()) return taken.status();
    for (const TrainingProgress& progress : *taken) {
      if (absl::Status status = progress_.Add(progress); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void TakeStatus() {
    const std::optional<StatusView> status = feed_.Take();
    if (!status.has_value()) return;
    state_ = StateOf(*status);
    std::vector<LinkBytes> links;
    for (const StatusView::Link& link : status->links) links.push_back({link.from, link.to, link.sent_bytes});
    progress_.SetLinks(std::move(links));
  }

  DemoJob& job_;
  StatusFeed& feed_;
  const StopSignals& signals_;
  DemoScreen& screen_;
  DemoProgress progress_;
  const absl::Time started_ = absl::Now();
  std::string state_ = "waiting for the scheduler";
};

}  // namespace

absl::StatusOr<DemoProgress> RunDemo(const DemoJobOptions& options, int64_t rounds, const StopSignals& signals,
                                     const WorkDirectory& directory, DemoScreen& screen) {
  absl::StatusOr<std::unique_ptr<DemoJob>> job = DemoJob::Start(options, directory);
  if (!job.ok()) return job.status();
  absl::StatusOr<std::unique_ptr<StatusFeed>> feed = StatusFeed::Start((*job)->scheduler_address(), kStatusInterval);
  if (!feed.ok()) return feed.status();
  DemoRun run(**job, **feed, static_cast<int>(options.nodes.size()), rounds, signals, screen);
  if (absl::Status status = run.Train(); !status.ok()) return status;
  run.TakeLastReports();
  if (absl::Status status = (*job)->Stop(); !status.ok()) return status;
  return run.TakeResult();
}

}  // namespace banyan
