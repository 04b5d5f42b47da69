#include "tools/scheduler_command.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "posix/stop_signals.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/metrics/metrics_page.h"
#include "runtime/protocol_host.h"
#include "scheduler/scheduler_core.h"
#include "tools/command_line.h"
#include "tools/daemon/daemon_address.h"
#include "tools/daemon/daemon_log.h"
#include "tools/daemon/daemon_run.h"
#include "tools/metrics/daemon_metrics.h"
#include "tools/metrics/scheduler_metrics.h"
#include "tools/reports/status_view.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

struct SchedulerFlags {
  std::string overlay;
  std::string listen;  // empty: the overlay's address
  std::string state_directory;
  std::string port_file;
  std::string log_level = "info";
  bool log_json = false;
};

CommandLine MakeCommandLine(SchedulerFlags& flags) {
  CommandLine line("banyan scheduler",
                   "Runs the scheduler of the job that an overlay file configures: membership, keys, policies. Ends\n"
                   "cleanly on SIGTERM and Ctrl-C; the job goes on when it is back. Exit codes: 0 asked to stop or\n"
                   "job over, 1 an error, 2 wrong flags.",
                   "banyan scheduler overlay.yaml --listen tcp://127.0.0.1:7700");
  line.Positional("OVERLAY.yaml", "the job, with an address for the scheduler and every node", &flags.overlay);
  line.Text("listen", "ADDRESS", "tcp://host:port to bind, port 0 for a free one; default: the overlay's",
            &flags.listen);
  line.Text("state-dir", "DIRECTORY", "keeps what must survive a restart; default: nothing survives",
            &flags.state_directory);
  line.Text("port-file", "FILE", "gets the bound address in one line, once it can be reached", &flags.port_file);
  line.Choice("log-level", LogLevelNames(), "the least of what is logged (default info)", &flags.log_level);
  line.Switch("log-json", "log JSON objects", &flags.log_json);
  return line;
}

absl::StatusOr<OverlayConfig> LoadJob(const std::string& path) {
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(path);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  return overlay;
}

// Readers never see a part of it.
absl::Status WritePortFile(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << address << "\n";
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    return absl::InternalError(absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

std::vector<MetricFamily> CollectStatus(const LatestValue<std::string>& status) {
  const std::shared_ptr<const std::string> json = status.Get();
  if (json == nullptr) return {};
  const absl::StatusOr<StatusView> view = ParseStatus(*json);
  return view.ok() ? MakeSchedulerMetrics(*view) : std::vector<MetricFamily>();
}

StartId NewStartId() {
  std::random_device device;
  return StartId(uint64_t{device()} << 32 | device());
}

absl::Status RunScheduler(const SchedulerFlags& flags, OverlayConfig overlay, std::ostream& out) {
  const StopSignals signals;
  const LogFunction log = MakeDaemonLog({.process = "scheduler", .level = flags.log_level, .json = flags.log_json});
  const std::string http = overlay.scheduler.http;
  LatestValue<std::string> status;
  const std::string listen = flags.listen.empty() ? overlay.scheduler.address : flags.listen;
  ProtocolHostOptions options;
  options.name = "scheduler";
  options.bind_address = listen;
  options.record_directory = flags.state_directory;
  options.log = log;
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(std::move(options));
  if (!host.ok()) return host.status();

  const std::string& address = (*host)->bound_address();
  if (const std::string warning = OpenAddressWarning(address); !warning.empty()) log(LogLevel::kWarning, warning);
  log(LogLevel::kInfo,
      absl::StrCat("job ", overlay.job, " of ", overlay.nodes.size(), " nodes, listening on ", address));
  out << "scheduler: " << address << std::endl;
  if (!flags.port_file.empty()) {
    if (absl::Status status = WritePortFile(flags.port_file, address); !status.ok()) return status;
  }
  std::unique_ptr<Protocol> core =
      std::make_unique<SchedulerCore>(std::move(overlay), SchedulerOptions{(*host)->TakeRecords(), NewStartId()});
  if (http.empty()) return RunUntilStopped(signals, **host, std::move(core));
  const absl::StatusOr<std::unique_ptr<MetricsPage>> page = ServeMetrics(
      http, [&status] { return CollectStatus(status); }, log);
  if (!page.ok()) return page.status();
  return RunUntilStopped(signals, **host, std::make_unique<WatchedScheduler>(std::move(core), &status));
}

}  // namespace

int SchedulerCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  SchedulerFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!flags.listen.empty()) {
    if (const absl::Status status = CheckListenAddress(flags.listen); !status.ok()) {
      return line.UsageError(absl::StrCat("--listen: ", status.message()), err);
    }
  }
  absl::Status status;
  if (absl::StatusOr<OverlayConfig> overlay = LoadJob(flags.overlay); overlay.ok()) {
    status = RunScheduler(flags, *std::move(overlay), out);
  } else {
    status = overlay.status();
  }
  if (status.ok()) return kExitSuccess;
  err << "banyan scheduler: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace banyan
