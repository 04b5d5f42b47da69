#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "tools/command_line.h"
#include "tools/command_table.h"
#include "tools/commands.h"
#include "tools/emulated_wan.h"
#include "tools/flags/shared_flags.h"
#include "tools/supervision/running_job.h"
#include "tools/supervision/supervised_process.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "wan/cross_flow.h"
#include "wan/emulator.h"
#include "wan/node_exec.h"
#include "wan/wan_client.h"
#include "wan/wan_directory.h"
#include "wan/wan_status.h"

namespace banyan {
namespace {

// --- banyan wan exec --restart: looks after a program in a node ---

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

// Runs `program`, a command line, in the node and starts it again whenever it fails. OK when it has ended with exit
// code 0, or has been asked to end (SIGTERM), or this process has (also by Ctrl-C). It is recorded where `banyan chaos`
// looks for it. UNAVAILABLE when it has failed too often in a row. Blocking.
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

constexpr double kLongestQueueMs = 60 * 1000;
// IP and UDP headers with all options.
constexpr int64_t kLeastTrimBytes = 68;
constexpr int64_t kMostTrimBytes = 65535;
constexpr double kLongestTrafficSeconds = 86400;

void AddDirectory(CommandLine& line, std::string* directory) {
  *directory = DefaultWanDirectory();
  line.Text("dir", "DIRECTORY", absl::StrCat("where it is known by (default ", *directory, "); one per emulated WAN"),
            directory);
  line.FormerName("dir", "directory");
}

int FailIn(absl::string_view command, const absl::Status& status, std::ostream& err) {
  err << "banyan wan " << command << ": " << std::string(status.message()) << "\n";
  return kExitFailure;
}

// What `up` is told.
struct UpFlags {
  std::string path;
  std::string directory;
  int64_t seed = 1;
  double queue_ms = 0;  // 0: the emulator's own choice
  int64_t trim_bytes = 0;
  std::string congestion;
  LinkChangeFlags link_changes;
  bool foreground = false;
};

CommandLine UpLine(UpFlags& flags) {
  CommandLine line(
      "banyan wan up",
      "Emulates the nodes and links of an overlay on this machine: a network namespace with a TUN device for each\n"
      "node, and a process that moves packets between them as the links would. It runs until `banyan wan down`.",
      "banyan wan up deploy/topologies/internet2.yaml --seed 7");
  line.Positional("OVERLAY.yaml", "the overlay; every link needs a rate", &flags.path);
  line.Integer("seed", "N", "of losses and redrawn rates (default 1)", 0, INT64_MAX, &flags.seed);
  line.Time("queue", "TIME", "how long a full queue takes to drain (default 50ms or the link's round trip, the longer)",
            absl::Milliseconds(1), 0.1, kLongestQueueMs, &flags.queue_ms);
  line.FormerName("queue", "queue-ms", "ms");
  line.Integer("trim-bytes", "N",
               "full queues cut UDP packets with DSCP 34 to so many IP bytes, and send those first (default: drop)",
               kLeastTrimBytes, kMostTrimBytes, &flags.trim_bytes);
  line.Text("congestion", "NAME", "TCP's congestion control in all nodes, such as bbr (default: the machine's)",
            &flags.congestion);
  flags.link_changes.AddTo(line);
  line.Switch("foreground", "stay until Ctrl-C instead of going to the background", &flags.foreground);
  AddDirectory(line, &flags.directory);
  return line;
}

absl::StatusOr<EmulatorOptions> MakeEmulatorOptions(const UpFlags& flags) {
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.path);
  if (!overlay.ok()) return overlay.status();
  if (const absl::Status status = ValidateForEmulation(*overlay); !status.ok()) return status;
  EmulatorOptions options;
  options.directory = flags.directory;
  options.overlay = flags.path;
  options.view = MakeNetworkView(*overlay);
  options.seed = static_cast<uint64_t>(flags.seed);
  if (flags.queue_ms > 0) options.queue_time = absl::Milliseconds(flags.queue_ms);
  options.trim_bytes = static_cast<uint32_t>(flags.trim_bytes);
  options.congestion = flags.congestion;
  absl::StatusOr<std::vector<LinkChange>> changes = flags.link_changes.LoadChanges(options.view);
  if (!changes.ok()) return changes.status();
  options.changes = *std::move(changes);
  options.redraw = flags.link_changes.Redraw(options.seed);
  return options;
}

// What is left is removed here too: whoever stays in the foreground expects that.
absl::Status RunInForeground(const EmulatorOptions& options, std::ostream& out) {
  const StopSignals signals;
  absl::StatusOr<std::unique_ptr<Emulator>> emulator = Emulator::Start(options);
  if (!emulator.ok()) return emulator.status();
  out << "the emulated WAN of " << options.overlay << " runs until Ctrl-C" << std::endl;
  const absl::Status status = (*emulator)->Run(signals.fd());
  emulator->reset();
  const absl::Status stopped = StopEmulator(options.directory);
  return status.ok() ? stopped : status;
}

int Up(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  UpFlags flags;
  const CommandLine line = UpLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.path == "-" && flags.link_changes.ReadsStandardInput()) {
    return line.UsageError("--changes: OVERLAY.yaml is standard input already; give one of them as a file", err);
  }
  const absl::StatusOr<EmulatorOptions> options = MakeEmulatorOptions(flags);
  if (!options.ok()) return FailIn("up", options.status(), err);
  const absl::Status status = flags.foreground ? RunInForeground(*options, out) : StartEmulatorInBackground(*options);
  if (!status.ok()) return FailIn("up", status, err);
  if (flags.foreground) return kExitSuccess;
  const absl::Span<const NetworkNode> nodes = options->view.nodes();
  out << "the emulated WAN of " << flags.path << " runs: " << nodes.size() << " nodes, " << options->view.links().size()
      << " directed links\ntry: banyan wan exec " << nodes.front().name << " -- ip address; banyan wan status; "
      << "banyan wan down\n";
  return kExitSuccess;
}

int Exec(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string node;
  std::string directory;
  bool restart = false;
  std::vector<std::string> program;
  CommandLine line("banyan wan exec",
                   "Runs a program in a node of the emulated WAN; its exit code is that of the program. The nodes'\n"
                   "addresses: banyan wan status.",
                   "banyan wan exec n1 -- ip address");
  line.Switch("restart",
              "start it again whenever it fails, until it ends with exit code 0 or is asked to end (SIGTERM), and let\n"
              "`banyan chaos` find it; it gets no input",
              &restart);
  line.Positional("NODE", "the node, by its name in the overlay or by its address", &node);
  AddDirectory(line, &directory);
  line.Program("the program, and what it is given", &program);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!restart) return FailIn("exec", ExecInNode(directory, node, program), err);
  const absl::Status status = SuperviseInNode(directory, node, program);
  return status.ok() ? kExitSuccess : FailIn("exec", status, err);
}

int ShowDead(const WanDirectory& directory, bool json, const absl::Status& failure, std::ostream& out,
             std::ostream& err) {
  const absl::StatusOr<std::optional<WanStatus>> state = directory.ReadState();
  if (json && state.ok() && state->has_value()) out << WanStatusJson(**state, "dead") << "\n";
  return FailIn("status", failure, err);
}

int Status(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string directory;
  bool json = false;
  CommandLine line("banyan wan status", "Shows the emulated WAN: nodes with their addresses, and what each link does.",
                   "banyan wan status --json");
  line.Switch("json", "print JSON", &json);
  AddDirectory(line, &directory);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::StatusOr<std::string> answer = WanClient(directory).StatusJson();
  if (!answer.ok()) return ShowDead(WanDirectory(directory), json, answer.status(), out, err);
  if (json) {
    out << *answer << "\n";
    return kExitSuccess;
  }
  const absl::StatusOr<WanStatus> status = ParseWanStatus(*answer);
  if (!status.ok()) return FailIn("status", status.status(), err);
  out << WanStatusText(*status);
  return kExitSuccess;
}

int Rate(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string from, to, directory;
  double mbps = 0;
  CommandLine line("banyan wan rate", "Changes the rate of one direction of a link of the emulated WAN.",
                   "banyan wan rate n1 n2 --rate 20");
  line.Positional("FROM", "where the link begins", &from);
  line.Positional("TO", "where it ends", &to);
  line.Rate("rate", "RATE", "the new rate in Mbit/s, or with a unit: 1Gbit/s", 1e-3, 1e6, &mbps);
  line.FormerName("rate", "mbps");
  AddDirectory(line, &directory);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (mbps == 0) return line.UsageError("expected --rate", err);
  const absl::Status status = WanClient(directory).SetRate(from, to, mbps * 1e6);
  return status.ok() ? kExitSuccess : FailIn("rate", status, err);
}

// One direction of a link, which `change` cuts or heals.
int ChangeCut(absl::string_view command, absl::string_view description,
              absl::Status (WanClient::*change)(absl::string_view, absl::string_view) const,
              absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string from, to, directory;
  const std::string name = absl::StrCat("banyan wan ", command);
  CommandLine line(name, std::string(description), name + " n1 n2");
  line.Positional("FROM", "where the link begins", &from);
  line.Positional("TO", "where it ends", &to);
  AddDirectory(line, &directory);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::Status status = (WanClient(directory).*change)(from, to);
  return status.ok() ? kExitSuccess : FailIn(command, status, err);
}

int CutLink(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return ChangeCut("cut",
                   "Lets nothing that FROM sends reach TO, until `banyan wan heal`. What others send over the link's\n"
                   "wire passes.",
                   &WanClient::Cut, arguments, out, err);
}

int Heal(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return ChangeCut("heal", "Ends what `banyan wan cut` has begun for the same direction of the link.", &WanClient::Heal,
                   arguments, out, err);
}

CommandLine TrafficLine(CrossFlowOptions& flow, double& mbps, double& on_seconds, double& off_seconds, double& seconds,
                        std::string& protocol) {
  CommandLine line("banyan wan traffic",
                   "Sends a flow from one node to another in bursts, beside what a job sends. UDP does not yield, TCP "
                   "follows\nits congestion control.",
                   "banyan wan traffic n1 n2 --rate 20 --on 2s --off 3s");
  line.Positional("FROM", "the node that sends", &flow.from);
  line.Positional("TO", "the node that gets it", &flow.to);
  line.Rate("rate", "RATE", "in a burst, in Mbit/s or with a unit", 1e-3, 1e6, &mbps);
  line.FormerName("rate", "mbps");
  line.Time("on", "TIME", "how long a burst is (default 2s)", absl::Seconds(1), 0.001, kLongestTrafficSeconds,
            &on_seconds);
  line.Time("off", "TIME", "the pause between two (default 3s)", absl::Seconds(1), 0, kLongestTrafficSeconds,
            &off_seconds);
  line.Time("for", "TIME", "when it ends (default 60s)", absl::Seconds(1), 0.001, kLongestTrafficSeconds, &seconds);
  line.Choice("protocol", {"udp", "tcp"}, "of the flow; tcp follows its congestion control (default udp)", &protocol);
  return line;
}

int SendTraffic(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  CrossFlowOptions options;
  std::string directory, protocol = "udp";
  double mbps = 0, on_seconds = 2, off_seconds = 3, seconds = 60;
  CommandLine line = TrafficLine(options, mbps, on_seconds, off_seconds, seconds, protocol);
  AddDirectory(line, &directory);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (mbps == 0) return line.UsageError("expected --rate", err);
  options.is_tcp = protocol == "tcp";
  options.rate_bps = mbps * 1e6;
  options.on = absl::Seconds(on_seconds);
  options.off = absl::Seconds(off_seconds);
  options.length = absl::Seconds(seconds);
  const WanClient client(directory);
  if (const absl::Status status = EnterUserNamespace(client); !status.ok()) return FailIn("traffic", status, err);
  const StopSignals signals;
  absl::StatusOr<CrossFlow> flow = CrossFlow::Open(client, options);
  if (!flow.ok()) return FailIn("traffic", flow.status(), err);
  const absl::Status status = flow->Run(signals.fd());
  out << flow->sent_bytes() << " bytes sent, " << flow->received_bytes() << " received\n";
  return status.ok() ? kExitSuccess : FailIn("traffic", status, err);
}

int Down(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string directory;
  CommandLine line("banyan wan down",
                   "Ends the emulated WAN and what runs in its nodes, and removes what is left of one that has died.",
                   "banyan wan down");
  AddDirectory(line, &directory);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::Status status = StopEmulator(directory);
  return status.ok() ? kExitSuccess : FailIn("down", status, err);
}

}  // namespace

int WanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  const CommandTable table("banyan wan", "Emulates a WAN on this machine, for real processes and real TCP.",
                           {{"up", "starts the nodes and links of an overlay", Up},
                            {"exec", "runs a program in a node", Exec},
                            {"status", "shows nodes, links and what these carry", Status},
                            {"rate", "changes the rate of a link", Rate},
                            {"cut", "cuts one direction of a link", CutLink},
                            {"heal", "ends the cut of a link", Heal},
                            {"traffic", "sends a flow in bursts beside a job", SendTraffic},
                            {"down", "ends it and removes what is left", Down}});
  return table.Run(arguments, out, err);
}

}  // namespace banyan
