// The program behind `banyan bench accuracy`, which LibTorch is in: see tools/accuracy_benchmark/accuracy_options.h for
// its arguments. The table goes to stdout, progress to stderr. Fails where replicas differ.

#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "examples/fashion_mnist/accuracy/accuracy_run.h"
#include "examples/fashion_mnist/accuracy/accuracy_scenario.h"
#include "examples/fashion_mnist/accuracy/accuracy_table.h"
#include "examples/fashion_mnist/classifier.h"
#include "posix/stop_signals.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/terminal/main_support.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

absl::StatusOr<OverlayConfig> ReadOverlay(const std::string& path) {
  if (path.empty()) return MeshOverlay(ModelElements());
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(path);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForEmulation(*overlay); !status.ok()) return status;
  return overlay;
}

absl::StatusOr<AccuracySetup> MakeSetup(const AccuracyOptions& options) {
  AccuracySetup setup;
  absl::StatusOr<OverlayConfig> overlay = ReadOverlay(options.overlay);
  if (!overlay.ok()) return overlay.status();
  setup.overlay = *std::move(overlay);
  absl::StatusOr<ImageSplits> images = LoadFashionMnist(options.data);
  if (!images.ok()) return images.status();
  setup.images = *std::move(images);
  absl::StatusOr<absl::Duration> compute_time = CalibrateComputeTime(setup.overlay);
  if (!compute_time.ok()) return compute_time.status();
  setup.compute_time = *compute_time;
  setup.scenario = options.scenario;
  setup.epochs = options.epochs;
  setup.batch = options.batch;
  setup.weights_every = options.weights_every;
  setup.target = options.target / 100;
  return setup;
}

void ShowRun(const AccuracyRow& row, uint64_t seed, const AccuracyResult& result) {
  std::cerr << absl::StreamFormat("%g Mbit/s, %s, seed %d: accuracy %.4f in %.0f s simulated\n", row.mbps, row.name,
                                  seed, result.accuracy, result.seconds);
}

absl::Status AddRow(const AccuracyOptions& options, const AccuracySetup& setup,
                    const AccuracyOptions::Combination& combination, double mbps, std::vector<AccuracyRow>& rows) {
  AccuracyRow& row = rows.emplace_back();
  row = {.name = combination.name, .mbps = mbps, .is_plain = combination.config.rules.empty(), .results = {}};
  if (!options.trims.empty()) absl::StrAppendFormat(&row.name, ", %g %% cut", 100 * setup.trimmed);
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(options.seeds); ++seed) {
    absl::StatusOr<AccuracyResult> result = RunAccuracy(setup, combination.config, mbps, seed);
    if (!result.ok()) return result.status();
    ShowRun(row, seed, *result);
    row.results.push_back(*std::move(result));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AccuracyRow>> MakeRows(const AccuracyOptions& options, AccuracySetup setup) {
  std::vector<AccuracyRow> rows;
  const std::vector<double> trims = options.trims.empty() ? std::vector<double>{0} : options.trims;
  for (double mbps : options.mbps) {
    for (const AccuracyOptions::Combination& combination : options.combinations) {
      for (const double trimmed : trims) {
        setup.trimmed = trimmed;
        if (absl::Status status = AddRow(options, setup, combination, mbps, rows); !status.ok()) return status;
      }
    }
  }
  return rows;
}

absl::Status Measure(const AccuracyOptions& options) {
  const absl::StatusOr<AccuracySetup> setup = MakeSetup(options);
  if (!setup.ok()) return setup.status();
  std::cerr << absl::StreamFormat("%d workers, batches of %d, %d epochs, %.3f s of computation in each round\n",
                                  WorkerCount(setup->overlay), setup->batch, setup->epochs,
                                  absl::ToDoubleSeconds(setup->compute_time));
  const absl::StatusOr<std::vector<AccuracyRow>> rows = MakeRows(options, *setup);
  if (!rows.ok()) return rows.status();
  std::cout << (options.json ? AccuracyJson(*rows, options.target) : AccuracyText(*rows, options.target));
  return CheckReplicas(*rows);
}

int Main(absl::Span<const std::string> arguments) {
  AccuracyOptions options;
  if (std::optional<int> code = ParseAccuracyOptions(arguments, options, std::cout, std::cerr); code.has_value()) {
    return *code;
  }
  UseOneThread();
  const absl::Status status = Measure(options);
  if (status.ok()) return 0;
  std::cerr << "banyan bench accuracy: " << status.message() << std::endl;
  return 1;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  banyan::OpenStandardStreams();
  banyan::OutliveReaders();
  const int code = banyan::Main(std::vector<std::string>(argv + 1, argv + argc));
  return banyan::FinishOutput(code, "banyan bench accuracy", std::cerr);
}
