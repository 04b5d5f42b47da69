#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "sim/cluster_options.h"
#include "sim/runs/simulation.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flag_values.h"
#include "tools/flags/shared_flags.h"
#include "tools/reports/progress_bar.h"
#include "tools/reports/sim_reports.h"
#include "tools/reports/trace_report.h"
#include "tools/view/recording.h"
#include "tools/view/simulation_recorder.h"
#include "topology/chunk_assignment.h"
#include "topology/network_view.h"
#include "topology/overlay/link_schedule.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/told_links.h"
#include "tracing/job_trace.h"
#include "tracing/round_recorder.h"

namespace banyan {
namespace {

constexpr int64_t kMostRounds = 1000000;
constexpr double kMostSeconds = 1e6;
constexpr double kMostDriftPpm = 1000;
constexpr double kMostNoisePercent = 100;
// A file of more would be too large to look at.
constexpr uint64_t kMostTracedRounds = 1000;
constexpr size_t kMostTracedRecords = size_t{1} << 21;  // of all nodes

// What the command line says beyond the file.
struct SimFlags {
  std::string path;
  std::optional<int64_t> model_bytes;
  std::vector<int64_t> tensor_bytes;
  int64_t rounds = 3;
  int64_t seed = 1;
  PlannerFlags planner;
  bool headers = false;
  bool faults = false;
  LinkChangeFlags link_changes;
  std::string traffic;  // a file; empty for none
  double compute_ms = 0;
  double drift_ppm = 0;
  double noise_percent = 0;
  std::string awareness;  // on, off, or empty: the file's
  std::string multipath;
  std::string hidden;         // "caps", or empty for nothing
  double update_seconds = 0;  // 0: the file's
  ToldLinks told;
  std::string trace;   // a file; empty for none
  std::string record;  // likewise
  bool json = false;
};

absl::Status ReadTensors(absl::string_view text, std::vector<int64_t>& tensors) {
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<int64_t> bytes = ReadModelBytes(part);
    if (!bytes.ok()) return bytes.status();
    tensors.push_back(*bytes);
  }
  return absl::OkStatus();
}

void AddOverlayFlags(CommandLine& line, SimFlags& flags) {
  line.Choice("awareness", {"on", "off"}, "instead of the file's awareness.enabled", &flags.awareness);
  line.Choice("multipath", {"on", "off"}, "instead of the file's multipath.enabled", &flags.multipath);
  line.Custom("prior", "rates|none|wrong[:SEED]|nodes",
              "what the job knows of the links at first: their rates (default), none, wrong ones, or the nodes alone",
              [&flags](absl::string_view value) {
                const absl::StatusOr<ToldLinks> told = ParseToldLinks(value);
                if (told.ok()) flags.told = *told;
                return told.status();
              });
  line.FormerName("prior", "told");
  line.Choice("hide", {"caps"}, "tell the job nothing of hosts' caps and of what links share", &flags.hidden);
  line.Time("update-interval", "TIME", "instead of the file's topology.update_seconds", absl::Seconds(1), 0.001,
            kMostSeconds, &flags.update_seconds);
  line.FormerName("update-interval", "update-seconds");
}

CommandLine MakeCommandLine(SimFlags& flags) {
  CommandLine line(
      "banyan sim",
      "Simulates a job's rounds over an overlay with the very protocols that a real job runs, and prints the\n"
      "synchronisation time per round, the load of each link and how near the rate comes to the bound. Round 1\n"
      "begins a second after the job knows its model, with the plan for that.",
      "banyan sim deploy/topologies/internet2.yaml --model-size 244M --rounds 5");
  line.Positional("OVERLAY.yaml", "the overlay; nodes and links suffice", &flags.path);
  line.Custom("model-size", "B", "size of the model (default 100M), one tensor unless --tensors says more",
              [&flags](absl::string_view value) {
                const absl::StatusOr<int64_t> bytes = ReadModelBytes(value);
                if (bytes.ok()) flags.model_bytes = *bytes;
                return bytes.status();
              });
  line.FormerName("model-size", "model-bytes");
  line.Custom("tensors", "B,B,..", "sizes of the model's tensors in bytes",
              [&flags](absl::string_view value) { return ReadTensors(value, flags.tensor_bytes); });
  line.Integer("rounds", "R", "rounds to simulate (default 3)", 1, kMostRounds, &flags.rounds);
  line.Integer("seed", "S", "the same seed gives the same run (default 1)", 0, INT64_MAX, &flags.seed);
  flags.planner.AddTo(line);
  line.Time("compute", "TIME", "a worker computes so long before each round (default 0)", absl::Milliseconds(1), 0,
            kMostSeconds, &flags.compute_ms);
  line.FormerName("compute", "compute-ms", "ms");
  AddOverlayFlags(line, flags);
  flags.link_changes.AddTo(line);
  line.Text("traffic", "FILE.yaml",
            "traffic: [{from, to, mbps, on_seconds, off_seconds}, ..]: what others send in bursts", &flags.traffic);
  line.Number("noise-percent", "P", "standard deviation of the rates that nodes measure (default 0)", 0,
              kMostNoisePercent, &flags.noise_percent);
  line.Number("drift-ppm", "P", "clocks drift by up to this (default 0)", 0, kMostDriftPpm, &flags.drift_ppm);
  line.Switch("headers", "let headers of TCP and IP, and TCP's acknowledgements, take their part of the rates",
              &flags.headers);
  line.Switch("faults", "lose connections, pause processes, stall links", &flags.faults);
  line.Text(
      "trace", "FILE.json",
      "write what happened inside the first 1000 rounds, for https://ui.perfetto.dev, and say what they waited for",
      &flags.trace);
  line.Text("record", "FILE",
            "write the job's status each simulated second, and traces of up to 64 rounds, for `banyan view`",
            &flags.record);
  line.Switch("json", "print JSON", &flags.json);
  return line;
}

absl::StatusOr<std::vector<int64_t>> TensorElements(const SimFlags& flags) {
  if (flags.tensor_bytes.empty())
    return std::vector<int64_t>{flags.model_bytes.value_or(100 * 1000 * 1000) / kElementBytes};
  std::vector<int64_t> elements;
  int64_t total_bytes = 0;
  for (const int64_t bytes : flags.tensor_bytes) {
    elements.push_back(bytes / kElementBytes);
    total_bytes += bytes;
  }
  if (flags.model_bytes.has_value() && *flags.model_bytes != total_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the sizes of --tensors make ", total_bytes,
                                                   " bytes, --model-size says ", *flags.model_bytes,
                                                   "; leave one of them out"));
  }
  return elements;
}

// Fills in what the flags say. Returns what does not go together.
absl::Status Override(const SimFlags& flags, OverlayConfig& overlay) {
  if (absl::Status status = flags.planner.Apply(overlay); !status.ok()) return status;
  if (!flags.awareness.empty()) overlay.awareness.enabled = flags.awareness == "on";
  if (!flags.multipath.empty()) overlay.multipath.enabled = flags.multipath == "on";
  if (flags.update_seconds > 0) overlay.topology.update_interval = absl::Seconds(flags.update_seconds);
  if (flags.noise_percent > 0 && !overlay.awareness.enabled) {
    return absl::InvalidArgumentError("--noise-percent requires measuring; leave it out, or set awareness on");
  }
  return absl::OkStatus();
}

SimulationOptions MakeOptions(const SimFlags& flags, OverlayConfig overlay, std::vector<int64_t> tensor_elements) {
  SimulationOptions options;
  options.overlay = std::move(overlay);
  options.told = flags.told;
  options.hides_caps = flags.hidden == "caps";
  options.tensor_elements = std::move(tensor_elements);
  options.rounds = static_cast<uint64_t>(flags.rounds);
  options.seed = static_cast<uint64_t>(flags.seed);
  options.compute_time = absl::Milliseconds(flags.compute_ms);
  options.first_compute_time = kPlanningTime;
  options.most_drift_ppm = flags.drift_ppm;
  options.measurement_noise = flags.noise_percent / 100;
  options.headers = flags.headers;
  options.faults = flags.faults;
  options.link_redraw = flags.link_changes.Redraw(options.seed);
  return options;
}

int FailSimulation(const absl::Status& status, std::ostream& err) {
  err << "banyan sim: " << std::string(status.message()) << "\n";
  return kExitFailure;
}

// Sets how long rounds take that are told all rates.
absl::Status AddInformed(SimulationOptions options, SimulationReport& report) {
  if (std::exchange(options.told, ToldLinks()) == ToldLinks()) return absl::OkStatus();
  options.recorders = nullptr;
  options.wrap_scheduler = nullptr;
  const absl::StatusOr<SimulationReport> informed = Simulate(options);
  if (informed.ok()) report.informed_p50 = informed->synchronisation_p50;
  return informed.status();
}

absl::StatusOr<SimulationReport> SimulateWithProgress(SimulationOptions options, std::ostream& err) {
  const auto start = std::chrono::steady_clock::now();
  ProgressBar bar("simulating", isatty(STDERR_FILENO) != 0, err);
  options.progress = [&](double done) { bar.Update(done, absl::FromChrono(std::chrono::steady_clock::now() - start)); };
  absl::StatusOr<SimulationReport> report = Simulate(options);
  if (!report.ok()) return report;
  if (const absl::Status status = AddInformed(std::move(options), *report); !status.ok()) return status;
  return report;
}

// So many rounds are noted, from the first one on.
uint64_t NotedRounds(const SimFlags& flags) {
  const auto rounds = static_cast<uint64_t>(flags.rounds);
  // A recording forgets them again.
  if (flags.trace.empty()) return flags.record.empty() ? 0 : rounds;
  return std::min(kMostTracedRounds, rounds);
}

size_t MostNodeRecords(const NetworkView& view) {
  return std::max(RoundRecorder::kMostRecords, kMostTracedRecords / view.nodes().size());
}

// The nodes' recorders, by id, on for the rounds that are noted.
std::map<NodeId, RoundRecorder> MakeRecorders(const NetworkView& view, const SimFlags& flags) {
  std::map<NodeId, RoundRecorder> recorders;
  const uint64_t rounds = NotedRounds(flags);
  if (rounds == 0) return recorders;
  for (const NetworkNode& node : view.nodes()) recorders[node.id].Begin(Round(1), Round(rounds), MostNodeRecords(view));
  return recorders;
}

std::map<NodeId, std::string> NamesOf(const NetworkView& view) {
  std::map<NodeId, std::string> names;
  for (const NetworkNode& node : view.nodes()) names[node.id] = view.NameOf(node.id);
  return names;
}

// Writes the trace, and to `out` what rounds waited for unless the output is JSON.
absl::Status WriteRecords(const SimFlags& flags, const NetworkView& view, int64_t scale,
                          std::map<NodeId, RoundRecorder>& recorders, std::ostream& out) {
  if (flags.trace.empty()) return absl::OkStatus();
  std::map<NodeId, RoundRecords> records;
  for (auto& [node, recorder] : recorders) records[node] = recorder.End();
  JobTrace trace = MakeJobTrace(records, NamesOf(view), scale);
  // Both ways of a simulated link take as long, so that clocks agree.
  trace.clock_uncertainty = absl::ZeroDuration();
  const std::vector<CriticalPath> paths = PathFinder(trace).FindAll();
  if (!flags.json) out << "\n" << TraceText(trace, paths, RatesOf(view));
  return WriteTrace(trace, paths, RatesOf(view), flags.trace);
}

SimulatedTraces::Options MakeTracesOptions(const SimFlags& flags, const SimulationOptions& options,
                                           const NetworkView& view, int64_t scale) {
  SimulatedTraces::Options traces;
  traces.recorders = options.recorders;
  traces.names = NamesOf(view);
  traces.rounds = NotedRounds(flags);
  traces.keys = options.tensor_elements.size();
  traces.scale = scale;
  traces.most_records = MostNodeRecords(view);
  traces.keeps_records = !flags.trace.empty();
  return traces;
}

// Simulates with what --record asks for.
absl::StatusOr<SimulationReport> SimulateAndRecord(const SimFlags& flags, const NetworkView& view,
                                                   SimulationOptions options, std::ostream& err) {
  if (flags.record.empty()) return SimulateWithProgress(std::move(options), err);
  const absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(flags.record);
  if (!writer.ok()) return writer.status();
  const int64_t scale = MakeClusterOptions(options).scale;
  SimulatedTraces traces(MakeTracesOptions(flags, options, view, scale));
  SimulationRecorder recorder(writer->get(), &traces, scale);
  options.wrap_scheduler = [&recorder](std::unique_ptr<Protocol> core) { return recorder.Wrap(std::move(core)); };
  absl::StatusOr<SimulationReport> report = SimulateWithProgress(std::move(options), err);
  recorder.Finish();
  if (report.ok() && !recorder.status().ok()) return recorder.status();
  if (traces.too_large().has_value()) {
    err << "banyan sim: " << flags.record << " has no traces from round " << traces.too_large()->value()
        << " on, of which nodes had more to note than there was room for\n";
  }
  return report;
}

}  // namespace

int SimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  SimFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  absl::StatusOr<std::vector<int64_t>> elements = TensorElements(flags);
  if (!elements.ok()) return line.UsageError(elements.status().message(), err);
  if (flags.path == "-" && flags.link_changes.ReadsStandardInput()) {
    return line.UsageError("--changes: OVERLAY.yaml is standard input already; give one of them as a file", err);
  }
  if (const absl::Status status = CheckWritable(flags.trace); !status.ok()) return FailSimulation(status, err);
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.path);
  if (!overlay.ok()) return FailSimulation(overlay.status(), err);
  if (overlay->nodes.size() < 2)
    return FailSimulation(absl::InvalidArgumentError("an overlay of one node has nothing to simulate"), err);
  if (const absl::Status status = Override(flags, *overlay); !status.ok())
    return line.UsageError(status.message(), err);
  if (flags.tensor_bytes.empty()) {
    elements = CutModel(elements->front(), overlay->chunks.max_elements, kMaxChunksPerKey);
    if (!elements.ok()) return FailSimulation(elements.status(), err);
  }
  SimulationOptions options = MakeOptions(flags, *std::move(overlay), *std::move(elements));
  const NetworkView view = MakeNetworkView(options.overlay);
  absl::StatusOr<std::vector<LinkChange>> changes = flags.link_changes.LoadChanges(view);
  if (!changes.ok()) return FailSimulation(changes.status(), err);
  options.link_changes = *std::move(changes);
  if (!flags.traffic.empty()) {
    absl::StatusOr<std::vector<CrossTraffic>> traffic = LoadCrossTraffic(flags.traffic, view);
    if (!traffic.ok()) return FailSimulation(traffic.status(), err);
    options.cross_traffic = *std::move(traffic);
  }
  std::map<NodeId, RoundRecorder> recorders = MakeRecorders(view, flags);
  if (!recorders.empty()) options.recorders = &recorders;
  const absl::StatusOr<SimulationReport> report = SimulateAndRecord(flags, view, std::move(options), err);
  if (!report.ok()) return FailSimulation(report.status(), err);
  out << (flags.json ? SimJson(*report, view) : SimText(*report, view));
  if (const absl::Status status = WriteRecords(flags, view, report->scale, recorders, out); !status.ok()) {
    return FailSimulation(status, err);
  }
  return report->replicas_identical ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
