#include "tools/demo/demo_job.h"

#include <poll.h>
#include <signal.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/keygen/job_keys.h"
#include "tools/reports/status_text.h"
#include "tools/supervision/running_job.h"

namespace banyan {
namespace {

constexpr absl::Duration kStopTimeout = absl::Seconds(10);
constexpr int kShownLogLines = 12;
// In seconds. The display may miss a status; whoever watches the scheduler's process tells when it is gone.
constexpr char kStatusPatience[] = "3600";
constexpr size_t kShownLogs = 3;

using Processes = std::vector<std::unique_ptr<SupervisedProcess>>;

int CountWorkers(const std::vector<DemoNode>& nodes) {
  int workers = 0;
  for (const DemoNode& node : nodes) workers += node.workers;
  return workers;
}

std::string SocketOf(const WorkDirectory& directory, const DemoNode& node) {
  return absl::StrCat("unix:", directory.File(node.name), ".sock");
}

std::string KeyOf(const WorkDirectory& directory, const std::string& owner) {
  return absl::StrCat(directory.File(owner), ".key");
}

absl::Status Report(const std::vector<const SupervisedProcess*>& ended) {
  if (ended.empty()) return absl::OkStatus();
  std::string text = absl::StrJoin(ended, "; ", [](std::string* out, const SupervisedProcess* process) {
    absl::StrAppend(out, process->DescribeEnd());
  });
  for (size_t i = 0; i < ended.size() && i < kShownLogs; ++i) {
    absl::StrAppend(&text, "\n  the end of the log of ", ended[i]->name(), ":\n", ended[i]->LogTail(kShownLogLines));
  }
  return absl::UnavailableError(text);
}

// Asks all, then waits for all; whoever does not end in time is added to `late`.
void End(Processes& processes, std::vector<SupervisedProcess*>& late) {
  for (const std::unique_ptr<SupervisedProcess>& process : processes) {
    process->Signal(SIGTERM);
    // Whoever is stopped does not hear it before.
    process->Signal(SIGCONT);
  }
  const absl::Time deadline = absl::Now() + kStopTimeout;
  for (const std::unique_ptr<SupervisedProcess>& process : processes) {
    if (!process->WaitUntilEnded(deadline - absl::Now())) late.push_back(process.get());
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

absl::Status DemoJob::Launch(SupervisionOptions options, Processes& processes) {
  options.records = ProcessRecords(RunningJob::RecordsFolder(directory_.path()));
  absl::StatusOr<std::unique_ptr<SupervisedProcess>> process = SupervisedProcess::Start(options);
  if (!process.ok()) return process.status();
  processes.push_back(*std::move(process));
  return absl::OkStatus();
}

// And the process that asks it.
absl::Status DemoJob::StartScheduler() {
  const std::string& address = network_.scheduler_address();
  const absl::StatusOr<std::string> overlay = MakeJobKeys(
      FillAddresses(options_.overlay, address, network_.node_addresses()), "the demo's overlay", directory_.path());
  if (!overlay.ok()) return overlay.status();
  SupervisionOptions scheduler;
  scheduler.kind = ProcessKind::kScheduler;
  scheduler.process = {.name = "the scheduler",
                       .arguments = network_.BesideScheduler({options_.banyan_program, "scheduler", *overlay,
                                                              "--state-dir", directory_.File("scheduler"), "--stay",
                                                              "--key", KeyOf(directory_, kSchedulerKeyOwner)}),
                       .log_path = directory_.File("scheduler.log")};
  absl::Status status = Launch(std::move(scheduler), services_);
  if (!status.ok()) return status;
  SupervisionOptions reader;
  reader.process = {.name = "the reader of the status",
                    .arguments = network_.BesideScheduler({options_.banyan_program, "status", "--watch", "--json",
                                                           "--timeout", kStatusPatience, "--scheduler", address,
                                                           "--key", KeyOf(directory_, kObserverKeyOwner)}),
                    .log_path = directory_.File("status.log"),
                    .capture_output = true};
  return Launch(std::move(reader), services_);
}

absl::Status DemoJob::StartNode(size_t index) {
  const DemoNode& node = options_.nodes[index];
  SupervisionOptions options;
  options.kind = ProcessKind::kNode;
  options.node = node.name;
  options.process = {
      .name = absl::StrCat("node ", node.name),
      .arguments = network_.InNode(
          index, {options_.banyan_program, "node", "--name", node.name, "--scheduler", network_.scheduler_address(),
                  "--listen", network_.node_addresses()[index], "--worker-socket", SocketOf(directory_, node), "--stay",
                  "--key", KeyOf(directory_, node.name)}),
      .log_path = directory_.File(absl::StrCat(node.name, ".log"))};
  return Launch(std::move(options), nodes_);
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
  SupervisionOptions options;
  options.kind = ProcessKind::kTraining;
  options.node = node.name;
  options.rank = rank;
  options.process = {.name = absl::StrCat("training process ", rank, " (", node.name, ")"),
                     .arguments = network_.InNode(index, arguments),
                     .log_path = directory_.File(absl::StrCat("trainer-", rank, ".log")),
                     .capture_output = true};
  node_of_trainer_.push_back(index);
  return Launch(std::move(options), trainers_);
}

absl::StatusOr<std::vector<TrainingProgress>> DemoJob::TakeProgress(int stop_fd, absl::Duration timeout) {
  std::vector<pollfd> entries = {{.fd = stop_fd, .events = POLLIN, .revents = 0}};
  for (const std::unique_ptr<SupervisedProcess>& trainer : trainers_) {
    // poll() passes over those that have closed their output, whose descriptor is -1.
    entries.push_back({.fd = trainer->output_fd(), .events = POLLIN, .revents = 0});
  }
  poll(entries.data(), entries.size(), static_cast<int>(absl::ToInt64Milliseconds(timeout)));
  std::vector<TrainingProgress> taken;
  for (const std::unique_ptr<SupervisedProcess>& trainer : trainers_) {
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

std::optional<JobStatus> DemoJob::TakeStatus() {
  const std::vector<std::string> lines = services_.back()->TakeLines();
  if (lines.empty()) return std::nullopt;
  absl::StatusOr<JobStatus> status = ParseStatus(lines.back());
  if (!status.ok()) return std::nullopt;
  if (options_.on_status != nullptr) options_.on_status(*status);
  return *std::move(status);
}

absl::Status DemoJob::Tend() {
  std::vector<const SupervisedProcess*> gone;
  absl::Status status;
  for (const std::unique_ptr<SupervisedProcess>& service : services_) {
    status.Update(service->Tend());
    if (service->is_given_up() || service->is_done()) gone.push_back(service.get());
  }
  for (size_t index = 0; index < nodes_.size(); ++index) {
    SupervisedProcess& node = *nodes_[index];
    status.Update(node.Tend());
    if (node.is_given_up() || (node.is_done() && IsMissed(index))) gone.push_back(&node);
  }
  for (size_t rank = 0; rank < trainers_.size(); ++rank) {
    status.Update(TendTrainer(rank));
    if (trainers_[rank]->is_given_up()) gone.push_back(trainers_[rank].get());
  }
  status.Update(Report(gone));
  return status;
}

bool DemoJob::IsMissed(size_t node) const {
  for (size_t rank = 0; rank < trainers_.size(); ++rank) {
    const SupervisedProcess& trainer = *trainers_[rank];
    if (node_of_trainer_[rank] == node && !trainer.is_up() && !trainer.is_done()) return true;
  }
  return false;
}

absl::Status DemoJob::TendTrainer(size_t rank) {
  SupervisedProcess& trainer = *trainers_[rank];
  // Without its node a training process can but fail.
  if (!nodes_[node_of_trainer_[rank]]->is_up()) trainer.Forgive();
  const int failures = trainer.failures();
  const absl::Status status = trainer.Tend();
  if (trainer.failures() > failures) lost_workers_.push_back(static_cast<int>(rank));
  return status;
}

std::vector<int> DemoJob::TakeLostWorkers() { return std::exchange(lost_workers_, {}); }

std::vector<DemoProcess> DemoJob::failed_processes() const {
  std::vector<DemoProcess> failed;
  for (const Processes* processes : {&services_, &nodes_, &trainers_}) {
    for (const std::unique_ptr<SupervisedProcess>& process : *processes) {
      if (process->failures() == 0) continue;
      failed.push_back({process->name(), process->failures(), process->is_up(), process->failure()});
    }
  }
  return failed;
}

absl::Status DemoJob::Stop() {
  std::vector<SupervisedProcess*> late;
  for (Processes* processes : {&trainers_, &nodes_, &services_}) End(*processes, late);
  std::string text;
  for (const SupervisedProcess* process : late) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", process->name(), " did not end within ",
                    absl::FormatDuration(kStopTimeout));
  }
  for (Processes* processes : {&trainers_, &nodes_, &services_}) processes->clear();
  return text.empty() ? absl::OkStatus() : absl::UnavailableError(text);
}

}  // namespace banyan
