#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "proto/tracing/trace_messages.h"
#include "runtime/transport/security_options.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flags/shared_flags.h"
#include "tools/reports/trace_report.h"
#include "tools/scheduler_probe.h"
#include "tools/trace/record_gatherer.h"
#include "tools/trace/records_file.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "tracing/critical_path.h"
#include "tracing/job_trace.h"

namespace banyan {
namespace {

// Beyond the time for which rounds are noted: for nodes to say that they do, and for their pieces.
constexpr absl::Duration kGrace = absl::Minutes(1);
// Where no scheduler is, nobody waits so long.
constexpr absl::Duration kConnectPatience = absl::Seconds(5);

// Returns what the scheduler's nodes have noted, of whichever of `schedulers` leads. UNAVAILABLE when no answer comes,
// FAILED_PRECONDITION when the scheduler refuses, RESOURCE_EXHAUSTED when it sends more than was asked for, CANCELLED
// after Ctrl-C.
absl::StatusOr<GatheredRecords> AskForTrace(const std::vector<std::string>& schedulers,
                                            std::optional<SecurityOptions> security, const std::string& key_file,
                                            const TraceRounds& question) {
  RecordGatherer gatherer;
  SchedulerProbeOptions probe;
  probe.schedulers = schedulers;
  probe.security = std::move(security);
  probe.key_file = key_file;
  probe.question = question;
  probe.patience = question.patience + kGrace;
  probe.connect_patience = kConnectPatience;
  probe.on_answer = [&gatherer](const Message& message) {
    if (const auto* piece = std::get_if<TracePiece>(&message)) gatherer.Take(*piece);
    if (const auto* end = std::get_if<TraceEnd>(&message)) gatherer.End(*end);
    return gatherer.is_over() || gatherer.is_too_much();
  };
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (gatherer.is_too_much()) {
    return absl::ResourceExhaustedError(
        "the scheduler sent more records than nodes were to note; is it another version?");
  }
  if (!gatherer.is_over()) return absl::CancelledError("stopped before the rounds were noted; nothing was written");
  return gatherer.TakeAll();
}

constexpr double kLongestPatience = 3600;

struct TraceFlags {
  std::string target;
  int64_t rounds = 5;
  std::string scheduler;
  KeyFlags keys;
  double patience_s = 60;
  std::vector<std::string> records;
  std::string overlay;  // empty: the links' rates are not known
};

CommandLine MakeCommandLine(TraceFlags& flags) {
  CommandLine line("banyan trace",
                   "Has the nodes of a running job note what they do in its next rounds, and puts it together on one\n"
                   "clock. Writes it for https://ui.perfetto.dev, and says what each round waited for. With --records\n"
                   "it asks no node, and takes what `banyan node --trace FILE` of every node has written.",
                   "banyan trace rounds.json --rounds 5 --scheduler tcp://127.0.0.1:7700");
  line.Positional("TRACE.json", "the file to write", &flags.target);
  line.Integer("rounds", "N", "how many (default 5)", 1, TraceRounds::kMost, &flags.rounds);
  AddSchedulerFlag(line, "", &flags.scheduler);
  flags.keys.AddTo(line, KeyFlags::Use::kCommand);
  line.Time("timeout", "TIME", "how long nodes note rounds at most; then they send what they have (default 60s)",
            absl::Seconds(1), 1, kLongestPatience, &flags.patience_s);
  line.Repeated("records", "FILE", "what `banyan node --trace` of one node has written",
                [&flags](absl::string_view path) {
                  flags.records.emplace_back(path);
                  return absl::OkStatus();
                });
  for (const char* of_a_job : {"rounds", "scheduler", "timeout"}) line.Exclude("records", of_a_job);
  line.Text("overlay", "FILE.yaml", "has the links' rates, which tell a full link from a full host", &flags.overlay);
  return line;
}

absl::StatusOr<JobTrace> ReadTrace(const std::vector<std::string>& paths) {
  std::map<NodeId, RoundRecords> records;
  std::map<NodeId, std::string> names;
  for (const std::string& path : paths) {
    absl::StatusOr<NodeRecords> of_node = ReadRecordsFile(path);
    if (!of_node.ok()) return of_node.status();
    if (!names.emplace(of_node->node, of_node->name).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": expected the records of another node, got those of ",
                                                     of_node->name, ", or of another job, again"));
    }
    records[of_node->node] = std::move(of_node->records);
  }
  return MakeJobTrace(records, std::move(names));
}

// The rates of the overlay's links between the nodes that are in the trace.
absl::StatusOr<LinkRates> ReadRates(const std::string& path, const JobTrace& trace) {
  LinkRates rates;
  if (path.empty()) return rates;
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(path);
  if (!overlay.ok()) return overlay.status();
  const NetworkView view = MakeNetworkView(*overlay);
  std::map<std::string, NodeId> nodes;
  for (const auto& [node, name] : trace.names) nodes[name] = node;
  for (const NetworkLink& link : view.links()) {
    const auto from = nodes.find(view.NameOf(link.from));
    const auto to = nodes.find(view.NameOf(link.to));
    if (from != nodes.end() && to != nodes.end()) rates[{from->second, to->second}] = link.throughput_bps;
  }
  return rates;
}

absl::Status Write(const TraceFlags& flags, const JobTrace& trace, std::ostream& out) {
  const absl::StatusOr<LinkRates> rates = ReadRates(flags.overlay, trace);
  if (!rates.ok()) return rates.status();
  const std::vector<CriticalPath> paths = PathFinder(trace).FindAll();
  out << TraceText(trace, paths, *rates);
  return WriteTrace(trace, paths, *rates, flags.target);
}

absl::Status RunOnFiles(const TraceFlags& flags, std::ostream& out) {
  const absl::StatusOr<JobTrace> trace = ReadTrace(flags.records);
  if (!trace.ok()) return trace.status();
  if (!trace->CompleteRounds().empty()) return Write(flags, *trace, out);
  return absl::FailedPreconditionError(
      "no round is complete at all of these nodes; were all started with the same --trace-from and --trace-rounds?");
}

// Asks the scheduler. What nodes have noted is written even when rounds do not end, which is when it is wanted most.
absl::Status RunOnJob(const TraceFlags& flags, std::ostream& out) {
  const absl::StatusOr<std::vector<std::string>> schedulers = ReadSchedulerFlag(flags.scheduler);
  if (!schedulers.ok()) return schedulers.status();
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  if (!security.ok()) return security.status();
  const TraceRounds question{static_cast<uint32_t>(flags.rounds), absl::Seconds(flags.patience_s)};
  absl::StatusOr<GatheredRecords> gathered =
      AskForTrace(*schedulers, *std::move(security), flags.keys.file(), question);
  if (!gathered.ok()) return gathered.status();
  for (const TraceEnd::Missing& missing : gathered->end.missing) {
    out << "without " << missing.node << ": " << missing.reason << "\n";
  }
  if (gathered->records.empty()) {
    return absl::FailedPreconditionError("no node has sent what it noted, and nothing was written");
  }
  const JobTrace trace = MakeJobTrace(gathered->records, std::move(gathered->names));
  if (absl::Status status = Write(flags, trace, out); !status.ok()) return status;
  if (!trace.CompleteRounds().empty()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("no round was complete at all nodes within ",
                                                  absl::FormatDuration(question.patience), "; ", flags.target,
                                                  " shows what they had noted by then"));
}

}  // namespace

int TraceCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  TraceFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.records.empty()) {
    const absl::Status addresses = ReadSchedulerFlag(flags.scheduler).status();
    if (!addresses.ok()) return line.UsageError(addresses.message(), err);
  }
  absl::Status status = CheckWritable(flags.target);
  if (status.ok()) status = flags.records.empty() ? RunOnJob(flags, out) : RunOnFiles(flags, out);
  return status.ok() ? kExitSuccess : line.SchedulerFailure(status, err);
}

}  // namespace banyan
