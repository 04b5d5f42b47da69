// The program behind `banyan bench packets`, which LibTorch is in: see tools/packet_benchmark/packet_options.h for its
// arguments. The table goes to stdout, progress to stderr.

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/result_table.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/packets/packet_training.h"
#include "examples/precision/image_model.h"
#include "examples/precision/residual_model.h"
#include "posix/stop_signals.h"
#include "tools/packet_benchmark/packet_options.h"
#include "tools/terminal/main_support.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

std::unique_ptr<GuidedModel> MakeModel(const PacketOptions& options, const ImageSplits& images, uint64_t seed) {
  const ImageModelOptions model{.seed = seed, .workers = options.workers, .batch = options.batch};
  if (options.is_residual) return std::make_unique<ResidualModel>(model, images.training, images.test);
  return std::make_unique<ImageModel>(model, images.training, images.test);
}

std::vector<Cell> MakeRow(const PacketOptions& options, const ImageSplits& images, const std::string& scheme,
                          double trim) {
  std::vector<PacketOutcome> outcomes;
  for (int64_t seed = 1; seed <= options.seeds; ++seed) {
    const PacketTraining training{.scheme = scheme,
                                  .cuts = {.share = trim, .bits = static_cast<int>(options.bits)},
                                  .cuts_weights = options.cuts_weights,
                                  .rounds = options.rounds,
                                  .workers = options.workers,
                                  .learning_rate = options.learning_rate,
                                  .seed = static_cast<uint64_t>(seed)};
    outcomes.push_back(RunPacketTraining(training, *MakeModel(options, images, static_cast<uint64_t>(seed))));
    std::cerr << absl::StreamFormat("%s, %g %% cut, seed %d: accuracy %.4f\n", scheme, 100 * trim, seed,
                                    outcomes.back().accuracy);
  }
  const auto mean = [&outcomes](const std::function<double(const PacketOutcome&)>& value) {
    double sum = 0;
    for (const PacketOutcome& outcome : outcomes) sum += value(outcome);
    return sum / static_cast<double>(outcomes.size());
  };
  double lowest = 1;
  for (const PacketOutcome& outcome : outcomes) lowest = std::min(lowest, outcome.accuracy);
  return {Cell::Text(scheme),
          Cell::Number(100 * trim),
          Cell::Number(100 * mean([](const PacketOutcome& o) { return o.accuracy; }), 2),
          Cell::Number(100 * lowest, 2),
          Cell::Number(mean([](const PacketOutcome& o) { return o.arrived_part; }), 4),
          Cell::Number(mean([](const PacketOutcome& o) { return o.error; }), 4),
          Cell::Number(mean([](const PacketOutcome& o) { return o.worst; }), 2)};
}

absl::StatusOr<ResultTable> Measure(const PacketOptions& options) {
  const absl::StatusOr<ImageSplits> images = LoadFashionMnist(options.data);
  if (!images.ok()) return images.status();
  ResultTable table;
  table.name = "rows";
  table.title =
      absl::StrFormat("Means over seeds. A cut leaves %d of a number's 32 bits; nothing comes back.", options.bits);
  table.columns = {{"scheme"},         {"cut %"},         {"accuracy %"},  {"lowest %"},
                   {"part of floats"}, {"squared error"}, {"worst number"}};
  for (const std::string& scheme : options.schemes) {
    for (const double trim : options.trims) table.rows.push_back(MakeRow(options, *images, scheme, trim));
  }
  return table;
}

int Main(absl::Span<const std::string> arguments) {
  PacketOptions options;
  if (std::optional<int> code = ParsePacketOptions(arguments, options, std::cout, std::cerr); code.has_value()) {
    return *code;
  }
  UseOneThread();
  const absl::StatusOr<ResultTable> table = Measure(options);
  if (!table.ok()) {
    std::cerr << "banyan bench packets: " << table.status().message() << std::endl;
    return 1;
  }
  if (!options.json) {
    std::cout << table->AsText();
    return 0;
  }
  JsonWriter json;
  json.BeginObject().Name(table->name);
  table->WriteTo(json);
  json.EndObject();
  std::cout << json.text() << "\n";
  return 0;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  banyan::OpenStandardStreams();
  banyan::OutliveReaders();
  const int code = banyan::Main(std::vector<std::string>(argv + 1, argv + argc));
  return banyan::FinishOutput(code, "banyan bench packets", std::cerr);
}
