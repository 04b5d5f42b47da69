#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "posix/port_reservation.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "posix/work_directory.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/daemon/daemon_log.h"
#include "tools/keygen/job_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int64_t kMostSites = 64;
constexpr int64_t kMostWorkers = 256;
// Processes that are asked to end get so long.
constexpr absl::Duration kStopTimeout = absl::Seconds(10);
// Ends of processes are looked for so often.
constexpr absl::Duration kTick = absl::Milliseconds(50);

// Daemons and the training processes beside them, which end together: when training is over, when a process fails, or
// when this one is asked to end. What they print goes to `out`, each line after the name of its process. None outlives
// the object. Thread-compatible; the thread that starts processes must live as long.
class Launch {
 public:
  Launch(std::ostream& out, const StopSignals& signals) : out_(out), signals_(signals) {}

  // And waits until it has said where it listens.
  absl::Status StartScheduler(std::vector<std::string> arguments) {
    absl::Status status =
        Start({.name = kScheduler, .arguments = std::move(arguments), .capture_output = true}, daemons_);
    if (!status.ok()) return status;
    while (!has_printed_ && daemons_.back()->running() && !signals_.received()) Pump(/*waits_for_signal=*/true);
    return status;
  }
  absl::Status StartNode(const std::string& site, std::vector<std::string> arguments) {
    // What it prints is where it listens, which nobody needs to know here.
    return Start({.name = absl::StrCat(site, " node"), .arguments = std::move(arguments), .log_path = "/dev/null"},
                 daemons_);
  }
  // `variables` are added to the environment, as NAME=value. The program is looked for in PATH.
  absl::Status StartTraining(const std::string& name, const std::vector<std::string>& program,
                             std::vector<std::string> variables) {
    std::vector<std::string> arguments = {"/usr/bin/env", "PYTHONUNBUFFERED=1"};
    std::move(variables.begin(), variables.end(), std::back_inserter(arguments));
    arguments.insert(arguments.end(), program.begin(), program.end());
    return Start({.name = name, .arguments = std::move(arguments), .capture_output = true}, training_);
  }

  // Returns the exit code of the first process that failed; 128 and the signal's number when this process was asked to
  // end; otherwise 0, after all training processes have ended.
  int Run() {
    int code = 0;
    bool is_training = true;
    while (code == 0 && is_training) {
      is_training = Any(training_);
      Pump(/*waits_for_signal=*/true);
      if (signals_.received()) code = kExitSignalled + signals_.signal();
      if (code == 0) code = FirstFailure(training_);
      if (code == 0) code = FirstFailure(daemons_);
    }
    End(training_, signals_.received() ? signals_.signal() : SIGTERM);
    // Nodes leave their job while there is a scheduler to tell.
    for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
      if ((*daemon)->name() != kScheduler) (*daemon)->Signal(SIGTERM);
    }
    WaitFor([this] {
      return std::none_of(daemons_.begin(), daemons_.end(),
                          [](const auto& daemon) { return daemon->name() != kScheduler && daemon->running(); });
    });
    End(daemons_, SIGTERM);
    return code;
  }

 private:
  static constexpr char kScheduler[] = "scheduler";
  using Processes = std::vector<std::unique_ptr<ChildProcess>>;

  static absl::Status Start(ChildProcessOptions options, Processes& processes) {
    options.capture_errors = true;
    absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(options);
    if (!process.ok()) return process.status();
    processes.push_back(*std::move(process));
    return absl::OkStatus();
  }

  static bool Any(Processes& processes) {
    return std::any_of(processes.begin(), processes.end(), [](const auto& process) { return process->running(); });
  }

  // Says which process has failed; 0 while none has.
  int FirstFailure(Processes& processes) {
    for (const std::unique_ptr<ChildProcess>& process : processes) {
      if (process->running() || process->failure().empty()) continue;
      Print(*process);
      out_ << "banyan: " << process->name() << " ended with " << process->failure() << std::endl;
      return process->exit_code();
    }
    return 0;
  }

  void Print(ChildProcess& process) {
    for (const std::string& line : process.TakeLines()) {
      out_ << "[" << process.name() << "] " << line << "\n";
      has_printed_ = true;
    }
  }

  // Prints what has come, or waits a little for it.
  void Pump(bool waits_for_signal) {
    std::vector<pollfd> entries;
    if (waits_for_signal) entries.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
    for (const Processes* processes : {&daemons_, &training_}) {
      // poll() passes over those that have closed their output, whose descriptor is -1.
      for (const auto& process : *processes) entries.push_back({process->output_fd(), POLLIN, 0});
    }
    poll(entries.data(), entries.size(), static_cast<int>(absl::ToInt64Milliseconds(kTick)));
    for (const Processes* processes : {&daemons_, &training_}) {
      for (const auto& process : *processes) Print(*process);
    }
    out_.flush();
  }

  // Goes on printing until `done`, or until processes have had their time.
  template <typename Done>
  void WaitFor(const Done& done) {
    const absl::Time deadline = absl::Now() + kStopTimeout;
    while (!done() && absl::Now() < deadline) Pump(/*waits_for_signal=*/false);
  }

  void End(Processes& processes, int signal) {
    for (const auto& process : processes) process->Signal(signal);
    WaitFor([&processes] { return !Any(processes); });
    for (const auto& process : processes) {
      if (!process->running()) continue;
      out_ << "banyan: " << process->name() << " did not end within " << absl::FormatDuration(kStopTimeout)
           << " and is killed" << std::endl;
      process->Signal(SIGKILL);
    }
    Pump(/*waits_for_signal=*/false);
  }

  std::ostream& out_;
  const StopSignals& signals_;
  Processes daemons_;
  Processes training_;
  bool has_printed_ = false;
};

std::string SocketOf(const WorkDirectory& directory, const std::string& site) {
  return absl::StrCat("unix:", directory.File(site), ".sock");
}

// Starts a site's training processes. Several have the variables that torchrun would give them, which sets them itself
// where it is the program. `site_ports` is to live as long as they do.
absl::Status StartTraining(Launch& launch, const std::string& site, const std::string& socket, int64_t workers,
                           const std::vector<std::string>& program, std::vector<PortReservation>& site_ports) {
  absl::StatusOr<PortReservation> port = PortReservation::Take(1);
  if (!port.ok()) return port.status();
  site_ports.push_back(*std::move(port));
  absl::Status status;
  for (int64_t worker = 0; worker < workers; ++worker) {
    std::vector<std::string> variables = {absl::StrCat("BANYAN_NODE=", socket)};
    if (workers > 1) {
      for (const char* rank : {"LOCAL_RANK=", "RANK="}) variables.push_back(absl::StrCat(rank, worker));
      for (const char* size : {"LOCAL_WORLD_SIZE=", "WORLD_SIZE="}) variables.push_back(absl::StrCat(size, workers));
      variables.push_back("MASTER_ADDR=127.0.0.1");
      variables.push_back(absl::StrCat("MASTER_PORT=", site_ports.back().ports().front()));
    }
    status.Update(launch.StartTraining(workers > 1 ? absl::StrCat(site, ".", worker) : site, program, variables));
  }
  return status;
}

// ---- local ----

struct LocalFlags {
  int64_t sites = 3;
  int64_t workers = 1;
  std::string log_level = "warning";
  std::vector<std::string> program;
};

// Returns the text of an overlay on loopback: a scheduler at the first port, whose page is at the last, and a node at
// each of the others.
std::string LocalOverlay(const PortReservation& ports, const LocalFlags& flags) {
  std::string text = absl::StrCat("job: local\nscheduler: {address: \"", ports.Address(0),
                                  "\", http: \"127.0.0.1:", ports.ports().back(), "\"}\nnodes:\n");
  for (int site = 1; site <= flags.sites; ++site) {
    absl::StrAppend(&text, "  - {name: n", site, ", address: \"", ports.Address(site), "\", workers: ", flags.workers,
                    "}\n");
  }
  return text;
}

absl::StatusOr<int> RunLocal(const LocalFlags& flags, std::ostream& out) {
  const absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-local");
  if (!directory.ok()) return directory.status();
  const absl::StatusOr<PortReservation> ports = PortReservation::Take(static_cast<int>(flags.sites) + 2);
  if (!ports.ok()) return ports.status();
  const absl::StatusOr<std::string> overlay =
      MakeJobKeys(LocalOverlay(*ports, flags), "the local job's overlay", (*directory)->path());
  if (!overlay.ok()) return overlay.status();
  const auto key_of = [&](const std::string& owner) { return absl::StrCat((*directory)->File(owner), ".key"); };

  const StopSignals signals;
  std::vector<PortReservation> site_ports;
  Launch launch(out, signals);
  out << "banyan: " << flags.sites << " sites on this machine; watch them by\nbanyan:   banyan status --watch "
      << "--scheduler " << ports->Address(0) << " --key " << key_of(kObserverKeyOwner)
      << "\nbanyan:   http://127.0.0.1:" << ports->ports().back() << std::endl;
  const std::string alone = absl::StrCat(kNoVariables, "=1");
  absl::Status status = launch.StartScheduler({"/usr/bin/env", alone, *banyan, "scheduler", *overlay, "--state-dir",
                                               (*directory)->File("scheduler"), "--key", key_of(kSchedulerKeyOwner),
                                               "--log-level", flags.log_level});
  for (int index = 1; index <= flags.sites; ++index) {
    const std::string site = absl::StrCat("n", index);
    const std::string socket = SocketOf(**directory, site);
    status.Update(launch.StartNode(site, {"/usr/bin/env", alone, *banyan, "node", "--name", site, "--scheduler",
                                          ports->Address(0), "--listen", ports->Address(index), "--worker-socket",
                                          socket, "--key", key_of(site), "--log-level", flags.log_level}));
    status.Update(StartTraining(launch, site, socket, flags.workers, flags.program, site_ports));
  }
  if (!status.ok()) return status;
  return launch.Run();
}

// ---- run ----

struct RunFlags {
  std::string overlay;
  std::string name;
  std::string listen;     // empty: as the overlay says
  std::string advertise;  // empty: as the overlay says
  std::string key;        // empty: where `banyan node` looks for it
  bool insecure = false;
  int64_t workers = 0;  // 0: as the overlay says
  std::string log_level = "warning";
  std::vector<std::string> program;
};

absl::StatusOr<const NodeConfig*> FindNode(const OverlayConfig& overlay, const RunFlags& flags) {
  const auto node = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                 [&flags](const NodeConfig& each) { return each.name == flags.name; });
  if (node != overlay.nodes.end()) return &*node;
  std::vector<std::string> names;
  for (const NodeConfig& each : overlay.nodes) names.push_back(each.name);
  return absl::NotFoundError(absl::StrCat("--name: expected a node of ", flags.overlay, " (",
                                          absl::StrJoin(names, ", "), "), got '", flags.name, "'"));
}

// The flags of this site's `banyan node` that the overlay and `flags` decide.
absl::StatusOr<std::vector<std::string>> NodeFlagsOf(const OverlayConfig& overlay, const NodeConfig& node,
                                                     const RunFlags& flags) {
  if (overlay.scheduler.addresses.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.overlay, ": expected scheduler: {address: tcp://host:port}, where this site finds the job"));
  }
  const std::string advertise = flags.advertise.empty() ? node.address : flags.advertise;
  std::string listen = flags.listen;
  if (listen.empty()) listen = node.listen.empty() ? advertise : node.listen;
  if (advertise.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(flags.overlay, ": nodes: expected an address of '", node.name,
                                                   "' (tcp://host:port, where the other sites reach it), or "
                                                   "--advertise and --listen"));
  }
  std::vector<std::string> arguments = {
      "--scheduler", absl::StrJoin(overlay.scheduler.addresses, ","), "--listen", listen, "--advertise", advertise};
  std::string key = flags.key;
  const std::filesystem::path beside = std::filesystem::path(flags.overlay).parent_path() / (node.name + ".key");
  std::error_code error;
  if (key.empty() && !flags.insecure && std::filesystem::exists(beside, error)) key = beside.string();
  if (!key.empty()) arguments.insert(arguments.end(), {"--key", key});
  if (flags.insecure) arguments.emplace_back("--insecure");
  return arguments;
}

absl::StatusOr<int> RunSite(const RunFlags& flags, std::ostream& out) {
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay.status();
  const absl::StatusOr<const NodeConfig*> node = FindNode(*overlay, flags);
  if (!node.ok()) return node.status();
  const absl::StatusOr<std::vector<std::string>> node_flags = NodeFlagsOf(*overlay, **node, flags);
  if (!node_flags.ok()) return node_flags.status();
  const absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-run");
  if (!directory.ok()) return directory.status();

  const StopSignals signals;
  std::vector<PortReservation> site_ports;
  Launch launch(out, signals);
  const std::string socket = SocketOf(**directory, flags.name);
  std::vector<std::string> arguments = {*banyan,           "node", "--name",      flags.name,
                                        "--worker-socket", socket, "--log-level", flags.log_level};
  arguments.insert(arguments.end(), node_flags->begin(), node_flags->end());
  absl::Status status = launch.StartNode(flags.name, std::move(arguments));
  const int64_t workers = flags.workers > 0 ? flags.workers : (*node)->workers;
  status.Update(StartTraining(launch, flags.name, socket, workers, flags.program, site_ports));
  if (!status.ok()) return status;
  return launch.Run();
}

constexpr char kEnds[] =
    "Every line that they print is preceded by the name of its process. When a process fails, or on Ctrl-C, all are\n"
    "ended. The exit code is that of the first process that failed, or 0.";

int Finish(const CommandLine& line, const absl::StatusOr<int>& code, std::ostream& err) {
  return code.ok() ? *code : line.Failure(code.status(), err);
}

}  // namespace

int LocalCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  LocalFlags flags;
  CommandLine line("banyan local",
                   absl::StrCat("Runs a training program at several sites on this machine: starts a scheduler, a node "
                                "for each site, and the\nprogram beside each node with BANYAN_NODE in its "
                                "environment, which banyan.join() reads.\n",
                                kEnds),
                   "banyan local --sites 3 -- python3 train.py");
  line.Integer("sites", "N", "how many sites (default 3)", 2, kMostSites, &flags.sites);
  line.Integer("workers", "W",
               "training processes at each site, with the variables of torchrun: LOCAL_RANK and others (default 1)", 1,
               kMostWorkers, &flags.workers);
  line.Choice("log-level", LogLevelNames(), "minimum level of what daemons print (default warning)", &flags.log_level);
  line.Program("what trains at each site, and its arguments", &flags.program);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return Finish(line, RunLocal(flags, out), err);
}

int RunCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  RunFlags flags;
  CommandLine line("banyan run",
                   absl::StrCat("Runs one site of a job: its node, with the addresses that the overlay has for it, "
                                "and the training program beside it\nwith BANYAN_NODE in its environment. The "
                                "scheduler is a process of its own: `banyan scheduler OVERLAY.yaml`.\n",
                                kEnds),
                   "banyan run job.yaml --name n1 -- python3 train.py");
  line.Positional("OVERLAY.yaml", "the job's overlay", &flags.overlay);
  line.Text("name", "NAME", "this site's node in the overlay; default: $BANYAN_NAME", &flags.name);
  line.Integer(
      "workers", "W",
      "training processes, with the variables of torchrun (default: as the overlay says, or 1); torchrun is one", 1,
      kMostWorkers, &flags.workers);
  line.Text("key", "FILE", "the node's secret key; default: NAME.key beside the overlay, or where banyan node looks",
            &flags.key);
  line.Switch("insecure", "run without keys on a network that you trust", &flags.insecure);
  line.Exclude("key", "insecure");
  line.Text("listen", "ADDRESS", "tcp://host:port to bind; default: as the overlay says", &flags.listen);
  line.Text("advertise", "ADDRESS", "where other nodes reach this one; default: as the overlay says", &flags.advertise);
  line.Choice("log-level", LogLevelNames(), "minimum level of what the node prints (default warning)",
              &flags.log_level);
  line.Program("what trains here, and its arguments", &flags.program);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.name.empty()) return line.UsageError("expected --name or the variable BANYAN_NAME", err);
  return Finish(line, RunSite(flags, out), err);
}

}  // namespace banyan
