#include "tools/demo/demo_job.h"

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
// In seconds. The display may miss a status; whoever watches the scheduler's process tells when it is gone.
constexpr char kStatusPatience[] = "3600";
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

absl::Status Launch(const ChildProcessOptions& options, Children& children) {
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
  if (!child.ok()) return child.status();
  children.push_back(*std::move(child));
  return absl::OkStatus();
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

absl::StatusOr<std::unique_ptr<DemoJob>> DemoJob::Start(const DemoJobOptions& options, const DemoNetwork& network,
                                                        const WorkDirectory& directory) {
  std::unique_ptr<DemoJob> job(new DemoJob(options, network, directory));
  if (absl::Status status = job->StartAll(); !status.ok()) return status;
  return job;
}

DemoJob::~DemoJob() { Stop().IgnoreError(); }

absl::Status DemoJob::StartAll() {
  absl::Status status = StartScheduler();
  const int world = CountWorkers(options_.nodes);
  for (size_t i = 0; i < options_.nodes.size(); ++i) {
    status.Update(StartNode(i));
    for (int worker = 0; worker < options_.nodes[i].workers; ++worker) status.Update(StartTrainer(i, worker, world));
  }
  return status;
}

// And the process that asks it.
absl::Status DemoJob::StartScheduler() {
  const std::string& address = network_.scheduler_address();
  absl::Status status =
      directory_.Write("overlay.yaml", FillAddresses(options_.overlay, address, network_.node_addresses()));
  if (!status.ok()) return status;
  status = Launch({.name = "the scheduler",
                   .arguments = network_.BesideScheduler(
                       {options_.banyan_program, "scheduler", directory_.File("overlay.yaml"), "--forgetful"}),
                   .log_path = directory_.File("scheduler.log")},
                  services_);
  if (!status.ok()) return status;
  return Launch({.name = "the reader of the status",
                 .arguments = network_.BesideScheduler({options_.banyan_program, "status", "--watch", "--json",
                                                        "--timeout", kStatusPatience, "--scheduler", address}),
                 .log_path = directory_.File("status.log"),
                 .capture_output = true},
                services_);
}

absl::Status DemoJob::StartNode(size_t index) {
  const DemoNode& node = options_.nodes[index];
  return Launch(
      {.name = absl::StrCat("node ", node.name),
       .arguments = network_.InNode(
           index, {options_.banyan_program, "node", "--name", node.name, "--scheduler", network_.scheduler_address(),
                   "--listen", network_.node_addresses()[index], "--attach", SocketOf(directory_, node)}),
       .log_path = directory_.File(absl::StrCat(node.name, ".log"))},
      nodes_);
}

absl::Status DemoJob::StartTrainer(size_t index, int worker, int world) {
  const DemoNode& node = options_.nodes[index];
  const int rank = worker_count();
  std::vector<std::string> arguments = {options_.trainer_program,
                                        "--json",
                                        "--node",
                                        SocketOf(directory_, node),
                                        "--worker",
                                        absl::StrCat(worker),
                                        "--rank",
                                        absl::StrCat(rank),
                                        "--world",
                                        absl::StrCat(world)};
  arguments.insert(arguments.end(), options_.trainer_arguments.begin(), options_.trainer_arguments.end());
  return Launch({.name = absl::StrCat("training process ", rank, " (", node.name, ")"),
                 .arguments = network_.InNode(index, arguments),
                 .log_path = directory_.File(absl::StrCat("trainer-", rank, ".log")),
                 .capture_output = true},
                trainers_);
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

std::optional<StatusView> DemoJob::TakeStatus() {
  const std::vector<std::string> lines = services_.back()->TakeLines();
  if (lines.empty()) return std::nullopt;
  absl::StatusOr<StatusView> status = ParseStatus(lines.back());
  return status.ok() ? std::optional<StatusView>(*std::move(status)) : std::nullopt;
}

absl::Status DemoJob::Check() {
  std::vector<ChildProcess*> ended;
  for (const Children* children : {&services_, &nodes_}) {
    for (const std::unique_ptr<ChildProcess>& child : *children) {
      if (!child->running()) ended.push_back(child.get());
    }
  }
  for (const std::unique_ptr<ChildProcess>& trainer : trainers_) {
    if (!trainer->running() && !trainer->failure().empty()) ended.push_back(trainer.get());
  }
  return Report(ended);
}

absl::Status DemoJob::Stop() {
  std::vector<ChildProcess*> late;
  for (Children* children : {&trainers_, &nodes_, &services_}) End(*children, late);
  std::string text;
  for (const ChildProcess* child : late) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", child->name(), " did not end within ",
                    absl::FormatDuration(kStopTimeout));
  }
  for (Children* children : {&trainers_, &nodes_, &services_}) children->clear();
  return text.empty() ? absl::OkStatus() : absl::UnavailableError(text);
}

}  // namespace banyan
