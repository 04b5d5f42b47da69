#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bench/kernel_benchmarks.h"
#include "bench/plan_benchmark.h"
#include "bench/reducer_replay.h"
#include "bench/timing.h"
#include "core/json_writer.h"
#include "posix/program_path.h"
#include "sim/runs/simulation.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/command_line.h"
#include "tools/command_table.h"
#include "tools/commands.h"
#include "tools/loopback_benchmark.h"
#include "tools/packet_benchmark/packet_options.h"
#include "tools/precision_benchmark/precision_options.h"
#include "tools/reports/progress_bar.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr int64_t kMaxNodes = 64;
constexpr double kMaxMegabytes = 4000;
constexpr int64_t kMaxPairs = 1000;
constexpr int64_t kMaxKeys = 50000;
constexpr int64_t kMaxGbps = 1000;
constexpr double kFloatsPerMegabyte = 1e6 / sizeof(float);

int BenchAggregate(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  bool json = false;
  CommandLine line(
      "banyan bench aggregate",
      "Adds incoming fp32 chunks into accumulators, beside what this machine's memory allows in the same run.",
      "banyan bench aggregate --json");
  line.Switch("json", "print JSON", &json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunAggregateBenchmark(out, json);
}

// Prints to `out`, which may be the bar's terminal, only when the bar is gone.
int RunCodecBenchmarkWithBar(const CodecBenchmarkOptions& options, std::ostream& out, std::ostream& err) {
  std::ostringstream results;
  int code = kExitSuccess;
  {
    ProgressBar bar("encoding", isatty(STDERR_FILENO) != 0, err);
    const auto start = std::chrono::steady_clock::now();
    code = RunCodecBenchmark(options, results, [&](double part) {
      bar.Update(part, absl::FromChrono(std::chrono::steady_clock::now() - start));
    });
  }
  out << results.str();
  return code;
}

// Of the overlay, in simulated time.
absl::StatusOr<CodecRound> SimulateRound(const std::string& path, double megabytes) {
  constexpr uint64_t kRounds = 12;
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(path);
  if (!overlay.ok()) return overlay.status();
  SimulationOptions options;
  options.overlay = *std::move(overlay);
  options.overlay.compression = {};
  options.tensor_elements = {static_cast<int64_t>(megabytes * kFloatsPerMegabyte)};
  options.rounds = kRounds;
  options.headers = true;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  if (!report.ok()) return report.status();
  std::vector<double> seconds;
  // The plan has settled by half of them.
  for (size_t i = kRounds / 2; i < report->rounds.size(); ++i) {
    seconds.push_back(absl::ToDoubleSeconds(report->rounds[i].synchronisation));
  }
  return CodecRound{.model_bytes = megabytes * 1e6, .seconds = Median(std::move(seconds))};
}

int BenchCodec(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  CodecBenchmarkOptions options;
  CommandLine line(
      "banyan bench codec",
      "Encodes and decodes chunks with every codec on one core, beside memcpy of the same floats. With an\n"
      "overlay also which part of a simulated round of it that takes.",
      "banyan bench codec deploy/topologies/internet2.yaml --model-size 46MB");
  std::string overlay;
  double megabytes = 46;
  line.OptionalPositional("OVERLAY.yaml", "nodes and links; every link needs a rate", &overlay);
  line.Megabytes("model-size", "float32 in a round (default 46MB)", 0.001, kMaxMegabytes, &megabytes);
  line.FormerName("model-size", "mbytes", "MB");
  line.Switch("json", "print JSON", &options.json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!overlay.empty()) {
    const absl::StatusOr<CodecRound> round = SimulateRound(overlay, megabytes);
    if (!round.ok()) return line.Failure(round.status(), err);
    options.round = *round;
  }
  return RunCodecBenchmarkWithBar(options, out, err);
}

// In the order of ReducerStudy.
std::vector<std::string> StudyNames() { return {"models", "capacity", "contention", "corner"}; }

ReducerStudy StudyOf(const std::string& name) {
  const std::vector<std::string> names = StudyNames();
  return static_cast<ReducerStudy>(std::find(names.begin(), names.end(), name) - names.begin());
}

int ReplayReducersWithBar(ReducerReplayOptions options, std::ostream& out, std::ostream& err) {
  absl::StatusOr<ReducerReplayReport> report;
  {
    ProgressBar bar("simulating", isatty(STDERR_FILENO) != 0, err);
    const auto start = std::chrono::steady_clock::now();
    options.progress = [&](double part) {
      bar.Update(part, absl::FromChrono(std::chrono::steady_clock::now() - start));
    };
    report = ReplayReducers(options);
  }
  if (report.ok()) return PrintReducerReplay(*report, options.json, out);
  err << "banyan bench reducer: " << report.status().message() << "\n";
  return kExitFailure;
}

int BenchReducer(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  bool is_replay = false;
  std::string only;
  ReducerReplayOptions replay;
  CommandLine line(
      "banyan bench reducer",
      "Counts votes of one and two bits per gradient on one core. Or replays rounds of models in simulated\n"
      "time, as float32, as packed signs that all workers gather, and as counts in Banyan's trees.",
      "banyan bench reducer --replay");
  line.Switch("replay", "simulate rounds (minutes)", &is_replay);
  line.Choice("only", StudyNames(), "with --replay: this study alone", &only);
  line.Switch("quick", "with --replay: one small model, few values", &replay.quick);
  line.Switch("json", "print JSON", &replay.json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!is_replay && (replay.quick || !only.empty())) {
    return line.UsageError("--quick and --only: expected with --replay", err);
  }
  if (!only.empty()) replay.studies = {StudyOf(only)};
  if (is_replay) return ReplayReducersWithBar(std::move(replay), out, err);
  ReducerBenchmarkOptions options;
  options.json = replay.json;
  return RunReducerBenchmark(options, out);
}

absl::StatusOr<std::vector<PlannerTableRow>> MakePlannerTable(std::ostream& err) {
  ProgressBar bar("planning", isatty(STDERR_FILENO) != 0, err);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<OverlayFamily> families = OverlayFamilies();
  std::vector<PlannerTableRow> rows;
  for (const OverlayFamily& family : families) {
    absl::StatusOr<PlannerTableRow> row = MakeRow(family);
    if (!row.ok()) return absl::Status(row.status().code(), absl::StrCat(family.name, ": ", row.status().message()));
    rows.push_back(*std::move(row));
    bar.Update(static_cast<double>(rows.size()) / static_cast<double>(families.size()),
               absl::FromChrono(std::chrono::steady_clock::now() - start));
  }
  return rows;
}

std::string PlanJson(const ResultTable& times, const std::vector<PlannerTableRow>& rows) {
  JsonWriter json;
  json.BeginObject();
  json.Name("times");
  times.WriteTo(json);
  json.Name("rates");
  PlannerTable(rows).WriteTo(json);
  json.Name("misses");
  json.BeginArray();
  for (const std::string& miss : Misses(rows)) json.String(miss);
  json.EndArray();
  json.EndObject();
  return absl::StrCat(json.text(), "\n");
}

std::string PlanText(const ResultTable& times, const std::vector<PlannerTableRow>& rows) {
  std::string text =
      absl::StrCat(times.AsText(), "\nRates in Mbit/s, and the least part of the bound that a packed plan has:\n\n",
                   PlannerTable(rows).AsText());
  for (const std::string& miss : Misses(rows)) absl::StrAppend(&text, "\n", miss, "\n");
  return text;
}

int BenchPlan(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  bool json = false;
  CommandLine line(
      "banyan bench plan",
      "Times plans of overlays of 9, 100 and 1,000 nodes, and compares the rates that planners promise on\n"
      "many overlays with the bound that no scheme can beat.",
      "banyan bench plan --json");
  line.Switch("json", "print JSON", &json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::StatusOr<ResultTable> times = TimePlans();
  if (!times.ok()) return line.Failure(times.status(), err);
  const absl::StatusOr<std::vector<PlannerTableRow>> rows = MakePlannerTable(err);
  if (!rows.ok()) return line.Failure(rows.status(), err);
  out << (json ? PlanJson(*times, *rows) : PlanText(*times, *rows));
  const bool fast =
      std::all_of(times->rows.begin(), times->rows.end(), [](const auto& row) { return row.back().text == "yes"; });
  return fast && Misses(*rows).empty() ? kExitSuccess : kExitFailure;
}

absl::Status MeasureLoopback(LoopbackBenchmarkOptions options, std::ostream& out) {
  absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  options.banyan_program = *std::move(banyan);
  absl::StatusOr<std::string> peer = FindProgram("bench/loopback_peer");
  if (!peer.ok()) return peer.status();
  options.peer_program = *std::move(peer);
  return RunLoopbackBenchmark(options, out);
}

int BenchLoopback(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  int64_t nodes = 4;
  int64_t pairs = 10;
  LoopbackBenchmarkOptions options;
  CommandLine line(
      "banyan bench loopback",
      "Times push-pulls of node processes on this machine beside Gloo's ring all-reduce of the same bytes between\n"
      "the same processes, in turns.",
      "banyan bench loopback --nodes 4 --model-size 64MB");
  line.Integer("nodes", "N", "processes (default 4)", 2, kMaxNodes, &nodes);
  line.Megabytes("model-size", "what each pushes and pulls (default 64MB)", 1, kMaxMegabytes, &options.megabytes);
  line.FormerName("model-size", "mbytes", "MB");
  line.Integer("keys", "N", "keys among which they are divided evenly (default 1)", 1, kMaxKeys, &options.keys);
  line.Switch("group", "initialise the keys as one group, and push them all at once", &options.group);
  line.Rate("rate", "RATE",
            "Mbit/s, or a rate such as 1Gbit/s, that the overlay believes each link to have (default: it says nothing)",
            1, 1e9, &options.mbps);
  line.FormerName("rate", "mbps");
  line.Switch("insecure", "no keys and no encryption, as Gloo has none", &options.insecure);
  line.Integer(
      "gbps", "N",
      "instead: how much of a line of so many Gbit/s two nodes send and receive at once, on one processor and\n"
      "on two",
      1, kMaxGbps, &options.line_gbps);
  line.Exclude("gbps", "nodes");
  line.Exclude("gbps", "pinned");
  line.Switch("pinned", "keep each process on one processor, in turns", &options.pinned);
  line.Integer("pairs", "N", "measured pairs (default 10)", 1, kMaxPairs, &pairs);
  line.Switch("json", "print JSON", &options.json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  options.nodes = static_cast<int>(nodes);
  const double floats = options.megabytes * kFloatsPerMegabyte;
  if (std::abs(floats - std::round(floats)) > 1e-6) return line.UsageError("--model-size: expected whole floats", err);
  options.pairs = static_cast<int>(pairs);
  const absl::Status status = MeasureLoopback(std::move(options), out);
  return status.ok() ? kExitSuccess : line.Failure(status, err);
}

}  // namespace

int BenchCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  const CommandTable table(
      "banyan bench", "Measures Banyan on this machine.",
      {{"accuracy", "training with compressed gradients, in simulated time", BenchAccuracyCommand},
       {"aggregate", "adding chunks into accumulators, beside plain memory add", BenchAggregate},
       {"codec", "encoding and decoding chunks, beside memcpy", BenchCodec},
       {"packets", "training with packets that switches cut, of which nothing comes back", BenchPacketsCommand},
       {"plan", "planning overlays: the time it takes, and the rates beside the bound", BenchPlan},
       {"incast", "gradients of several nodes to one, whose queues cut packets", BenchIncastCommand},
       {"loopback", "push-pull between processes, beside Gloo's ring all-reduce", BenchLoopback},
       {"training", "utilisation of training on emulated WANs, beside its prediction", BenchTrainingCommand},
       {"trim", "training with chunks that queues trim, in simulated time", BenchTrimCommand},
       {"precision", "training with low-bit rounds, static and controlled", BenchPrecisionCommand},
       {"reducer", "counting gradients of one and two bits", BenchReducer},
       {"wan", "all-reduces on an emulated WAN, beside Gloo and Open MPI", BenchWanCommand}});
  return table.Run(arguments, out, err);
}

}  // namespace banyan
