#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "access/exposure.h"
#include "access/secret_file.h"
#include "core/version.h"
#include "node/node_core.h"
#include "posix/process_limits.h"
#include "posix/service_manager.h"
#include "posix/stop_signals.h"
#include "posix/unix_socket.h"
#include "runtime/compute_device.h"
#include "runtime/compute_pool.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/metrics/metrics_page.h"
#include "runtime/node_host.h"
#include "runtime/protocol_host.h"
#include "runtime/records/transcript_file.h"
#include "runtime/transport/congestion_control.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/daemon/daemon_log.h"
#include "tools/daemon/daemon_run.h"
#include "tools/flags/shared_flags.h"
#include "tools/metrics/node_metrics.h"
#include "tools/reports/trace_report.h"
#include "tools/trace/records_file.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/yaml_reader.h"
#include "tracing/round_recorder.h"

namespace banyan {
namespace {

constexpr int64_t kMaxThreads = 256;
constexpr int64_t kLastTracedRound = int64_t{1} << 40;
constexpr int64_t kMostTracedRounds = 1000;
// Some 20 MB.
constexpr size_t kMostTracedRecords = size_t{1} << 18;

struct NodeFlags {
  std::string name;
  std::string scheduler;
  std::string listen = "tcp://127.0.0.1:0";
  std::string advertise;  // empty: where it listens
  int64_t data_port = 0;
  std::string worker_socket;
  std::string worker_group;  // empty: the group of the socket's file
  std::string job;
  std::string http;  // empty: no metrics
  std::string token_file;
  std::vector<std::string> http_hosts;
  KeyFlags keys;
  int64_t threads = 1;
  std::string device = "cpu";
  std::string log_level = "info";
  bool log_json = false;
  bool stay = false;
  std::string transcript;  // empty: none is written
  std::string replay;      // empty: nothing is replayed
  std::string trace;       // empty: no round is traced
  int64_t trace_from = 1;
  int64_t trace_rounds = 5;
};

CommandLine MakeCommandLine(NodeFlags& flags) {
  CommandLine line(
      "banyan node",
      "Runs the node of one data centre: joins the scheduler's job, takes gradients from training processes,\n"
      "aggregates and forwards. It may be started before the scheduler. Fallen out of the job, it joins again.\n"
      "Ends with its job, and cleanly on SIGTERM, Ctrl-C and the end of its terminal (unless under nohup).\n" +
          std::string(kDaemonExitCodes),
      "banyan node --name n1 --scheduler tcp://127.0.0.1:7700 --worker-socket unix:/run/banyan/n1");
  line.Text("name", "NAME", "this node's name in the overlay; default: $BANYAN_NAME", &flags.name);
  AddSchedulerFlag(line, "", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kNode);
  line.Text("listen", "ADDRESS",
            "tcp://host:port to bind (default tcp://127.0.0.1:0: a free port of this machine alone)", &flags.listen);
  line.Text("advertise", "ADDRESS", "where other nodes reach this one; default: where it listens", &flags.advertise);
  line.Integer("data-port", "PORT",
               "with a key: where other nodes send chunks, besides --listen; for firewalls (default 0: a free one)", 0,
               UINT16_MAX, &flags.data_port);
  line.Text("worker-socket", "SOCKET", "unix:/path where training processes attach; default: none can",
            &flags.worker_socket);
  line.FormerName("worker-socket", "attach");
  line.Text("worker-group", "GROUP",
            "whose members may attach, besides this user; default: this process's own, or that of the socket's "
            "directory if that hands it on (setgid)",
            &flags.worker_group);
  line.FormerName("worker-group", "attach-group");
  line.Needs("worker-group", "worker-socket");
  line.Text("job", "NAME", "refuse any other job; default: whichever the scheduler runs", &flags.job);
  line.Text("http", "HOST:PORT", "serve metrics at http://HOST:PORT/metrics, port 0 for a free one; default: off",
            &flags.http);
  line.Text("http-token", "FILE",
            "a token that readers of --http must give, in a file of mode 0600; default: anyone may read",
            &flags.token_file);
  line.Needs("http-token", "http");
  line.Repeated("http-host", "NAME",
                "a host name under which readers ask for --http where anyone may; default: addresses and this "
                "machine's name alone",
                [&flags](absl::string_view text) {
                  flags.http_hosts.emplace_back(text);
                  return absl::OkStatus();
                });
  line.Needs("http-host", "http");
  line.Integer("threads", "N", "for sums and hashes (default 1)", 1, kMaxThreads, &flags.threads);
  line.Text("device", "DEVICE",
            "where chunks are encoded, decoded and added: cpu, cuda:N for GPU N in a build with CUDA, or emulated, for "
            "tests (default cpu)",
            &flags.device);
  line.Choice("log-level", LogLevelNames(), "minimum level of the log (default info)", &flags.log_level);
  line.Switch("log-json", "log JSON objects", &flags.log_json);
  line.Switch("stay", "when the job is over, stay until asked to end, and tell workers that come how it ended",
              &flags.stay);
  line.Text("transcript", "FILE",
            "write down what `banyan replay` needs to run this training again; needs aggregation: {order: fixed}",
            &flags.transcript);
  line.Text("replay", "FILE", "do again what this transcript of the node says, for `banyan replay`", &flags.replay);
  line.Exclude("transcript", "replay");
  line.Text("trace", "FILE", "write down, at the end, what happened inside some rounds, for `banyan trace`",
            &flags.trace);
  line.Integer("trace-from", "R", "the first of these rounds (default 1)", 1, kLastTracedRound, &flags.trace_from);
  line.Integer("trace-rounds", "N", "how many (default 5)", 1, kMostTracedRounds, &flags.trace_rounds);
  line.Needs("trace-from", "trace");
  line.Needs("trace-rounds", "trace");
  return line;
}

absl::Status CheckFlag(const char* flag, const absl::Status& status) {
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat(flag, ": ", status.message()));
}

absl::Status CheckFlags(NodeFlags& flags) {
  if (flags.name.empty()) {
    return absl::InvalidArgumentError("expected --name or the variable BANYAN_NAME, this node's name in the overlay");
  }
  for (const auto& [flag, name] : {std::pair("--name", flags.name), std::pair("--job", flags.job)}) {
    if (name.empty() || IsName(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(flag, ": expected ", kNameRule, ", got '", name, "'"));
  }
  absl::Status status = ReadSchedulerFlag(flags.scheduler).status();
  status.Update(CheckFlag("--listen", CheckListenAddress(flags.listen)));
  if (!flags.advertise.empty()) status.Update(CheckFlag("--advertise", CheckConnectAddress(flags.advertise)));
  if (flags.advertise.empty() && ListensOnAllInterfaces(flags.listen)) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("expected --advertise, where other nodes reach this one, since --listen ", flags.listen,
                     " stands for every interface")));
  }
  flags.keys.BelongTo(flags.name);
  status.Update(flags.keys.CheckAddresses({flags.listen, flags.advertise}));
  status.Update(CheckFlag("--device", ComputeDevice::CheckName(flags.device)));
  if (!flags.http.empty()) status.Update(CheckFlag("--http", CheckHttpAddress(flags.http)));
  if (!flags.worker_socket.empty() && !absl::StartsWith(flags.worker_socket, "unix:/")) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("--worker-socket: expected unix:/path, got '", flags.worker_socket, "'")));
  }
  if (!flags.worker_socket.empty())
    status.Update(CheckFlag("--worker-socket", UnixPathOf(flags.worker_socket).status()));
  return status;
}

// Makes the folder of the worker socket where there is none, as /run/banyan after each start of a machine.
absl::Status MakeSocketFolder(const NodeFlags& flags) {
  if (flags.worker_socket.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> path = UnixPathOf(flags.worker_socket);
  if (!path.ok()) return path.status();
  const std::filesystem::path folder = std::filesystem::path(*path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("--worker-socket: cannot make the folder ", folder.string(), ": ", error.message(),
                   "; make it, or choose one of this user's, such as below $XDG_RUNTIME_DIR"));
}

Incarnation NewIncarnation() {
  std::random_device device;
  return Incarnation(uint64_t{device()} << 32 | device());
}

std::vector<MetricFamily> CollectReport(const LatestValue<NodeSnapshot>& snapshot, bool is_insecure) {
  const std::shared_ptr<const NodeSnapshot> latest = snapshot.Get();
  std::vector<MetricFamily> families = latest == nullptr ? std::vector<MetricFamily>() : MakeNodeMetrics(*latest);
  families.push_back(MakeBuildInfoMetric());
  families.push_back(MakeInsecureMetric(is_insecure));
  return families;
}

// Serves the node's metrics if that is wanted; null otherwise.
absl::StatusOr<std::unique_ptr<MetricsPage>> ServeNodeMetrics(const NodeFlags& flags, bool is_insecure,
                                                              const LatestValue<NodeSnapshot>* snapshot,
                                                              const LogFunction& log) {
  if (flags.http.empty()) return nullptr;
  HttpAccess access = {.hosts = flags.http_hosts};
  if (!flags.token_file.empty()) {
    if (absl::Status status = ReadTokenFile(flags.token_file).status(); !status.ok()) return status;
    // It counts at once when it has changed.
    access.token = [file = flags.token_file] { return ReadTokenFile(file).value_or(""); };
  }
  return ServeMetrics(
      flags.http, [snapshot, is_insecure] { return CollectReport(*snapshot, is_insecure); }, log,
      // It reports from when it has joined on.
      {ReadinessRoute([snapshot] { return snapshot->Get() != nullptr; })}, std::move(access));
}

// Has the rounds noted that are to be traced.
void BeginTrace(const NodeFlags& flags, RoundRecorder& recorder) {
  const auto first = static_cast<uint64_t>(flags.trace_from);
  const auto rounds = static_cast<uint64_t>(flags.trace_rounds);
  if (!flags.trace.empty()) recorder.Begin(Round(first), Round(first + rounds - 1), kMostTracedRecords);
}

void WriteRecords(const NodeFlags& flags, RoundRecorder& recorder, const LogFunction& log) {
  if (flags.trace.empty()) return;
  const absl::Status status = WriteRecordsFile(flags.trace, flags.name, recorder.End());
  if (!status.ok()) log(LogLevel::kWarning, std::string(status.message()));
}

// Each one is another start of the node, which looks for the schedulers that the former has learned of.
std::unique_ptr<Protocol> MakeCore(const NodeFlags& flags, const std::string& address,
                                   std::vector<std::string>* schedulers, RoundRecorder* recorder,
                                   LatestValue<NodeSnapshot>* snapshot, const ChunkDevice* device,
                                   std::shared_ptr<const NodeTranscript> replayed) {
  auto core = std::make_unique<NodeCore>(NodeOptions{.name = flags.name,
                                                     .address = flags.advertise.empty() ? address : flags.advertise,
                                                     .scheduler_addresses = *schedulers,
                                                     .learned_schedulers = schedulers,
                                                     .job = flags.job,
                                                     .incarnation = NewIncarnation(),
                                                     .loss_limited = NewConnectionsAreLossLimited(),
                                                     .ends_with_job = !flags.stay,
                                                     .compute_threads = static_cast<uint32_t>(flags.threads),
                                                     .device = device,
                                                     .records_transcript = !flags.transcript.empty(),
                                                     .recorder = recorder,
                                                     .replayed = std::move(replayed)});
  if (flags.http.empty()) return WithWatchdog(std::move(core));
  return WithWatchdog(std::make_unique<WatchedNode>(std::move(core), snapshot));
}

// Reads the transcript that is to be replayed; null without one. FAILED_PRECONDITION when it is another node's.
absl::StatusOr<std::shared_ptr<const NodeTranscript>> ReadReplayed(const NodeFlags& flags) {
  if (flags.replay.empty()) return nullptr;
  absl::StatusOr<std::shared_ptr<const NodeTranscript>> replayed = ReadTranscriptFile(flags.replay);
  if (!replayed.ok() || (*replayed)->start.node == flags.name) return replayed;
  return absl::FailedPreconditionError(absl::StrCat(flags.replay, ": expected the transcript of ", flags.name,
                                                    ", got that of ", (*replayed)->start.node));
}

absl::Status RunNode(const NodeFlags& flags, const StopSignals& signals, std::ostream& out) {
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  if (!security.ok()) return security.status();
  if (absl::Status status = CheckWritable(flags.trace); !status.ok()) return status;
  if (absl::Status status = MakeSocketFolder(flags); !status.ok()) return status;
  LatestValue<NodeSnapshot> snapshot;
  RoundRecorder recorder;
  BeginTrace(flags, recorder);
  const LogFunction log = MakeDaemonLog({.process = flags.name,
                                         .level = flags.log_level,
                                         .json = flags.log_json,
                                         .journal = CommandLine::Variable("JOURNAL_STREAM")});
  const absl::StatusOr<std::unique_ptr<ComputeDevice>> device = ComputeDevice::Open(flags.device, log);
  if (!device.ok()) return device.status();
  ProtocolHostOptions options;
  options.name = flags.name;
  options.bind_address = flags.listen;
  const bool is_secured = security->has_value();
  options.security = *std::move(security);
  if (is_secured) options.security->data_port = static_cast<uint16_t>(flags.data_port);
  options.worker_socket = flags.worker_socket;
  options.worker_group = flags.worker_group;
  options.memory_limit = FindMemoryLimit();
  options.compute_threads = static_cast<int>(flags.threads);
  options.brief_bytes = *device == nullptr ? ComputePool::kBriefBytes : ComputeDevice::kBriefBytes;
  options.log = log;
  const absl::StatusOr<std::unique_ptr<MetricsPage>> page =
      ServeNodeMetrics(flags, !is_secured && !IsLoopback(flags.listen), &snapshot, log);
  if (!page.ok()) return page.status();
  const absl::StatusOr<std::shared_ptr<const NodeTranscript>> replayed = ReadReplayed(flags);
  if (!replayed.ok()) return replayed.status();
  std::vector<std::string> schedulers = *ParseConnectAddresses(flags.scheduler);
  const absl::StatusOr<std::unique_ptr<NodeHost>> node = NodeHost::Start(
      std::move(options),
      [&](const ProtocolHost& host) {
        return MakeCore(flags, host.bound_address(), &schedulers, &recorder, &snapshot,
                        *device == nullptr ? &ProcessorDevice() : device->get(), *replayed);
      },
      flags.transcript.empty() ? nullptr : std::make_unique<TranscriptFile>(flags.transcript));
  if (!node.ok()) return node.status();
  const std::string address = (*node)->host().bound_address();
  if (const std::string warning = OpenAddressWarning(address, is_secured); !warning.empty())
    log(LogLevel::kWarning, warning);
  log(LogLevel::kInfo, absl::StrCat("banyan ", kVersion, ", listening on ", address,
                                    is_secured ? absl::StrCat(", with the key ", flags.keys.file()) : ""));
  out << "node " << flags.name << ": " << address << std::endl;
  NotifyServiceManager(CommandLine::Variable("NOTIFY_SOCKET"), "READY=1");
  absl::Status ended = RunUntilStopped(
      signals, [&node] { return (*node)->Join(); }, [&node] { (*node)->RequestStop(); });
  WriteRecords(flags, recorder, log);
  if (*device != nullptr) (*device)->LogWork();
  return ended;
}

}  // namespace

int NodeCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  NodeFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (const absl::Status status = CheckFlags(flags); !status.ok()) return line.UsageError(status.message(), err);
  const StopSignals signals;
  const absl::Status status = RunNode(flags, signals, out);
  if (!status.ok()) err << "banyan node: " << status.message() << "\n";
  return DaemonExitCode(status, signals);
}

}  // namespace banyan
