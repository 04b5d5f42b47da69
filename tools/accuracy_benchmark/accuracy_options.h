// `banyan bench accuracy`, what compression costs in accuracy and saves in time: its arguments, and the command. The
// training is done by a program of its own, so that the command `banyan` needs no LibTorch.
#ifndef BANYAN_TOOLS_ACCURACY_BENCHMARK_ACCURACY_OPTIONS_H_
#define BANYAN_TOOLS_ACCURACY_BENCHMARK_ACCURACY_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/compression/compression_config.h"

namespace banyan {

// The way in which the links change while the job trains.
enum class AccuracyScenario {
  kStatic,       // not at all
  kDegrading,    // to a tenth of `mbps` in ten steps of equally many rounds (NetSenseML, scenario 2)
  kFluctuating,  // other traffic takes a part of them (NetSenseML, scenario 3)
  kDc2,          // each node's rate is drawn anew again and again (DC2's dynamic network)
};

struct AccuracyOptions {
  struct Combination {
    std::string name;  // as it was given
    CompressionConfig config;
  };

  std::string command = "banyan bench accuracy";  // as help and errors name it
  std::string overlay;                            // a file; empty: the built-in one
  std::vector<Combination> combinations;          // never empty after parsing
  AccuracyScenario scenario = AccuracyScenario::kStatic;
  // The rates that the links stand for: at 200 an uncompressed synchronisation takes ten times the computation.
  std::vector<double> mbps;
  // Of chunks in levels: the shares that queues cut to their heads, by chance. Empty: none is cut.
  std::vector<double> trims;
  int64_t epochs = 1;
  int64_t seeds = 3;
  int64_t batch = 16;
  int64_t weights_every = 0;  // rounds after which workers register the model's weights; 0: never
  double target = 80;         // percent of the test images
  std::string data;           // the dataset's directory
  bool json = false;
};

// Fills `options`. Returns the exit code when the command ends here: after --help or a usage error.
std::optional<int> ParseAccuracyOptions(absl::Span<const std::string> arguments, AccuracyOptions& options,
                                        std::ostream& out, std::ostream& err);

// Parses what a flag says: as overlay.yaml has it under `compression`, or `none`.
absl::StatusOr<AccuracyOptions::Combination> ParseCombination(absl::string_view text);

// --- the command ---

// `arguments` come after the word `accuracy`. Becomes that program once they are sound; returns the exit code
// otherwise: 0 after --help, 1 failure, 2 usage. The program itself fails where replicas differ.
int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// The same with chunks that queues cut: as Chen, Vargaftik and Ben Basat have it (HotNets 2024, figures 3 and 4), from
// none to half of them, unless `arguments` say --trim.
int BenchTrimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_ACCURACY_BENCHMARK_ACCURACY_OPTIONS_H_
