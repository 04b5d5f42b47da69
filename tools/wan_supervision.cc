#include "tools/wan_supervision.h"

#include <poll.h>
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "tools/emulated_wan.h"
#include "tools/supervision/running_job.h"
#include "tools/supervision/supervised_process.h"
#include "wan/wan_client.h"

namespace banyan {
namespace {

constexpr int kTickMs = 50;
constexpr absl::Duration kEndPatience = absl::Seconds(10);

std::string NameOf(ProcessKind kind, const std::string& node, const std::vector<std::string>& program) {
  if (kind == ProcessKind::kNode) return absl::StrCat("node ", node);
  if (kind == ProcessKind::kScheduler) return "the scheduler";
  const std::optional<int> rank = RankOf(program);
  if (rank.has_value()) return absl::StrCat("training process ", *rank, " (", node, ")");
  return absl::StrCat(std::filesystem::path(program[0]).filename().string(), " (", node, ")");
}

// Says what has happened since `failures` and `was_up`.
void TellNews(const SupervisedProcess& process, int failures, bool was_up) {
  if (process.failures() > failures) std::cerr << "banyan wan exec: " << process.DescribeEnd() << std::endl;
  if (process.is_up() && !was_up) std::cerr << "banyan wan exec: " << process.name() << " runs again" << std::endl;
}

absl::Status Look(const StopSignals& signals, SupervisedProcess& process) {
  while (!signals.received()) {
    const int failures = process.failures();
    const bool was_up = process.is_up();
    if (absl::Status status = process.Tend(); !status.ok()) return status;
    TellNews(process, failures, was_up);
    if (process.is_given_up()) return absl::UnavailableError(process.DescribeEnd());
    if (process.is_done() || (!process.is_up() && process.was_asked_to_end())) return absl::OkStatus();
    pollfd stop = {signals.fd(), POLLIN, 0};
    poll(&stop, 1, kTickMs);
  }
  process.Signal(SIGTERM);
  process.Signal(SIGCONT);
  process.WaitUntilEnded(kEndPatience);
  return absl::OkStatus();
}

}  // namespace

absl::Status SuperviseInNode(const std::string& directory, const std::string& node,
                             const std::vector<std::string>& program) {
  const StopSignals signals;
  // It says what is wrong before anything is started.
  if (const absl::StatusOr<WanStatus> status = WanClient(directory).Status(); !status.ok()) return status.status();
  const absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  SupervisionOptions options;
  options.kind = KindOf(program);
  options.node = node;
  options.rank = options.kind == ProcessKind::kTraining ? RankOf(program) : std::nullopt;
  options.records = ProcessRecords(RunningJob::RecordsFolder(directory));
  options.process = {.name = NameOf(options.kind, node, program),
                     .arguments = WanExecArguments(*banyan, directory, node, program),
                     .log_path = ""};
  const absl::StatusOr<std::unique_ptr<SupervisedProcess>> process = SupervisedProcess::Start(options);
  return process.ok() ? Look(signals, **process) : process.status();
}

}  // namespace banyan
