#include "tools/trace/trace_command.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "tools/command_line.h"
#include "tools/reports/trace_report.h"
#include "tools/trace/records_file.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_yaml.h"
#include "tracing/job_trace.h"

namespace banyan {
namespace {

struct TraceFlags {
  std::string target;
  std::vector<std::string> records;
  std::string overlay;  // empty: the links' rates are not known
};

CommandLine MakeCommandLine(TraceFlags& flags) {
  CommandLine line("banyan trace",
                   "Puts together what nodes have noted of the inside of rounds, on one clock. Writes it for\n"
                   "https://ui.perfetto.dev, and says what each round waited for. Start every node with --trace FILE.",
                   "banyan trace rounds.json --records n1.rounds --records n2.rounds --overlay overlay.yaml");
  line.Positional("TRACE.json", "the file to write", &flags.target);
  line.Repeated("records", "FILE", "what `banyan node --trace` of one node has written",
                [&flags](absl::string_view path) {
                  flags.records.emplace_back(path);
                  return absl::OkStatus();
                });
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

absl::Status Run(const TraceFlags& flags, std::ostream& out) {
  const absl::StatusOr<JobTrace> trace = ReadTrace(flags.records);
  if (!trace.ok()) return trace.status();
  const absl::StatusOr<LinkRates> rates = ReadRates(flags.overlay, *trace);
  if (!rates.ok()) return rates.status();
  if (trace->CompleteRounds().empty()) {
    return absl::FailedPreconditionError(
        "no round is complete at all of these nodes; were all started with the same --trace-from and --trace-rounds?");
  }
  out << TraceText(*trace, *rates);
  return WriteTrace(*trace, *rates, flags.target);
}

}  // namespace

int TraceCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  TraceFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.records.empty()) return line.UsageError("expected --records FILE, for each node", err);
  const absl::Status status = Run(flags, out);
  if (status.ok()) return kExitSuccess;
  err << "banyan trace: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace banyan
