#include "tools/demo_job.h"

#include <poll.h>
#include <signal.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace banyan {
namespace {

constexpr absl::Duration kStopTimeout = absl::Seconds(10);
constexpr int kShownLogLines = 12;
constexpr size_t kShownLogs = 3;

using Children = std::vector<std::unique_ptr<ChildProcess>>;

int CountWorkers(const std::vector<DemoNode>& nodes) {
  int workers = 0;
  for (const DemoNode& node : nodes) workers += node.workers;
  return workers;
}

std::string SocketOf(const WorkDirectory& directory, const DemoNode& node) {
  return absl::StrCat("unix:", directory.File(node.name), ".sock");
}

std::string Describe(const ChildProcess& child) {
  return absl::StrCat(child.name(), " ended with ",
                      child.failure().empty() ? "exit code 0, too early" : child.failure());
}

absl::Status Report(const std::vector<ChildProcess*>& ended) {
  if (ended.empty()) return absl::OkStatus();
  std::string text = absl::StrJoin(
      ended, "; ", [](std::string* out, const ChildProcess* child) { absl::StrAppend(out, Describe(*child)); });
  for (size_t i = 0; i < ended.size() && i < kShownLogs; ++i) {
    absl::StrAppend(&text, "\n  the end of the log of ", ended[i]->name(), ":\n", ended[i]->LogTail(kShownLogLines));
  }
  return absl::UnavailableError(text);
}

// Asks all, then waits for all; whoever does not end in time is added to `late`.
void End(Children& children, std::vector<ChildProcess*>& late) {
  for (const std::unique_ptr<ChildProcess>& child : children) child->Signal(SIGTERM);
  const absl::Time deadline = absl::Now() + kStopTimeout;
  for (const std::unique_ptr<ChildProcess>& child : children) {
    if (!child->WaitUntilEnded(deadline - absl::Now())) late.push_back(child.get());
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DemoJob>> DemoJob::Start(const DemoJobOptions& options, const WorkDirectory& directory) {
  absl::StatusOr<PortReservation> ports = PortReservation::Take(static_cast<int>(options.nodes.size()) + 1);
  if (!ports.ok()) return ports.status();
  std::unique_ptr<DemoJob> job(new DemoJob(*std::move(ports)));
  if (absl::Status status = job->StartAll(options, directory); !status.ok()) return status;
  return job;
}

DemoJob::~DemoJob() { Stop().IgnoreError(); }

absl::Status DemoJob::StartAll(const DemoJobOptions& options, const WorkDirectory& directory) {
  scheduler_address_ = ports_.Address(0);
  std::vector<std::string> addresses;
  for (size_t i = 0; i < options.nodes.size(); ++i) addresses.push_back(ports_.Address(static_cast<int>(i) + 1));
  absl::Status status = directory.Write("overlay.yaml", FillAddresses(options.overlay, scheduler_address_, addresses));
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<ChildProcess>> scheduler =
      ChildProcess::Start({.name = "the scheduler",
                           .arguments = {options.banyan_program, "scheduler", directory.File("overlay.yaml")},
                           .log_path = directory.File("scheduler.log")});
  if (!scheduler.ok()) return scheduler.status();
  scheduler_ = *std::move(scheduler);
  const int world = CountWorkers(options.nodes);
  for (size_t i = 0; i < options.nodes.size(); ++i) {
    status.Update(StartNode(options, directory, i));
    for (int worker = 0; worker < options.nodes[i].workers; ++worker) {
      status.Update(StartTrainer(options, directory, options.nodes[i], worker, world));
    }
  }
  return status;
}

absl::Status DemoJob::StartNode(const DemoJobOptions& options, const WorkDirectory& directory, size_t index) {
  const DemoNode& node = options.nodes[index];
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
      {.name = absl::StrCat("node ", node.name),
       .arguments = {options.banyan_program, "node", "--name", node.name, "--scheduler", scheduler_address_, "--listen",
                     ports_.Address(static_cast<int>(index) + 1), "--attach", SocketOf(directory, node)},
       .log_path = directory.File(absl::StrCat(node.name, ".log"))});
  if (!child.ok()) return child.status();
  nodes_.push_back(*std::move(child));
  return absl::OkStatus();
}

absl::Status DemoJob::StartTrainer(const DemoJobOptions& options, const WorkDirectory& directory, const DemoNode& node,
                                   int worker, int world) {
  const int rank = worker_count();
  ChildProcessOptions child;
  child.name = absl::StrCat("training process ", rank, " (", node.name, ")");
  child.arguments = {options.trainer_program,
                     "--json",
                     "--node",
                     SocketOf(directory, node),
                     "--worker",
                     absl::StrCat(worker),
                     "--rank",
                     absl::StrCat(rank),
                     "--world",
                     absl::StrCat(world)};
  child.arguments.insert(child.arguments.end(), options.trainer_arguments.begin(), options.trainer_arguments.end());
  child.log_path = directory.File(absl::StrCat("trainer-", rank, ".log"));
  child.capture_output = true;
  absl::StatusOr<std::unique_ptr<ChildProcess>> started = ChildProcess::Start(child);
  if (!started.ok()) return started.status();
  trainers_.push_back(*std::move(started));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TrainingProgress>> DemoJob::TakeProgress(int stop_fd, absl::Duration timeout) {
  std::vector<pollfd> entries = {{.fd = stop_fd, .events = POLLIN, .revents = 0}};
  for (const std::unique_ptr<ChildProcess>& trainer : trainers_) {
    // poll() passes over those that have closed their output, whose descriptor is -1.
    entries.push_back({.fd = trainer->output_fd(), .events = POLLIN, .revents = 0});
  }
  poll(entries.data(), entries.size(), static_cast<int>(absl::ToInt64Milliseconds(timeout)));
  std::vector<TrainingProgress> taken;
  for (const std::unique_ptr<ChildProcess>& trainer : trainers_) {
    for (const std::string& line : trainer->TakeLines()) {
      absl::StatusOr<TrainingProgress> progress = ParseProgress(line);
      if (!progress.ok()) {
        return absl::Status(progress.status().code(), absl::StrCat(trainer->name(), ": ", progress.status().message()));
      }
      taken.push_back(*std::move(progress));
    }
  }
  return taken;
}

absl::Status DemoJob::Check() {
  std::vector<ChildProcess*> ended;
  if (!scheduler_->running()) ended.push_back(scheduler_.get());
  for (const std::unique_ptr<ChildProcess>& node : nodes_) {
    if (!node->running()) ended.push_back(node.get());
  }
  for (const std::unique_ptr<ChildProcess>& trainer : trainers_) {
    if (!trainer->running() && !trainer->failure().empty()) ended.push_back(trainer.get());
  }
  return Report(ended);
}

absl::Status DemoJob::Stop() {
  std::vector<ChildProcess*> late;
  Children scheduler;
  if (scheduler_ != nullptr) scheduler.push_back(std::move(scheduler_));
  for (Children* children : {&trainers_, &nodes_, &scheduler}) End(*children, late);
  std::string text;
  for (const ChildProcess* child : late) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", child->name(), " did not end within ",
                    absl::FormatDuration(kStopTimeout));
  }
  trainers_.clear();
  nodes_.clear();
  return text.empty() ? absl::OkStatus() : absl::UnavailableError(text);
}

}  // namespace banyan
