#include "tools/bench_command.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bench/aggregate_benchmark.h"
#include "bench/plan_benchmark.h"
#include "tools/command_line.h"
#include "tools/command_table.h"
#include "tools/loopback_benchmark.h"
#include "tools/program_path.h"

namespace banyan {
namespace {

constexpr int64_t kMaxNodes = 64;
constexpr int64_t kMaxMegabytes = 4000;
constexpr int64_t kMaxPairs = 1000;

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

int BenchPlan(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  bool json = false;
  CommandLine line("banyan bench plan", "Plans overlays of 9, 100 and 1,000 nodes.", "banyan bench plan --json");
  line.Switch("json", "print JSON", &json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  return RunPlanBenchmark(out, json);
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
  int64_t megabytes = 64;
  int64_t pairs = 10;
  LoopbackBenchmarkOptions options;
  CommandLine line(
      "banyan bench loopback",
      "Times push-pulls of node processes on this machine beside Gloo's ring all-reduce of the same bytes between\n"
      "the same processes, in turns.",
      "banyan bench loopback --nodes 4 --mbytes 64");
  line.Integer("nodes", "N", "processes (default 4)", 2, kMaxNodes, &nodes);
  line.Integer("mbytes", "M", "megabytes (10^6 bytes) that each pushes and pulls (default 64)", 1, kMaxMegabytes,
               &megabytes);
  line.Integer("pairs", "N", "measured pairs (default 10)", 1, kMaxPairs, &pairs);
  line.Switch("json", "print JSON", &options.json);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  options.nodes = static_cast<int>(nodes);
  options.megabytes = megabytes;
  options.pairs = static_cast<int>(pairs);
  const absl::Status status = MeasureLoopback(std::move(options), out);
  if (status.ok()) return kExitSuccess;
  err << "banyan bench loopback: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace

int BenchCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  const CommandTable table("banyan bench", "Measures Banyan on this machine.",
                           {{"aggregate", "adding chunks into accumulators, beside plain memory add", BenchAggregate},
                            {"plan", "planning overlays of 9, 100 and 1,000 nodes", BenchPlan},
                            {"loopback", "push-pull between processes, beside Gloo's ring all-reduce", BenchLoopback}});
  return table.Run(arguments, out, err);
}

}  // namespace banyan
