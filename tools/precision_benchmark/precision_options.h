// `banyan bench precision`, training with low-bit rounds, static and controlled: its arguments, and the command.
#ifndef BANYAN_TOOLS_PRECISION_BENCHMARK_PRECISION_OPTIONS_H_
#define BANYAN_TOOLS_PRECISION_BENCHMARK_PRECISION_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

// What is done to a training from two thirds of it on, to see whether the Supervisor notices.
enum class Damage { kNone, kLearningRate, kLabels, kPoison };

// What is trained: the network of examples/fashion_mnist, a residual network with batch normalization on the same
// images, or a transformer that tells the next character.
enum class TrainedModel { kImages, kResidual, kText };

struct PrecisionOptions {
  TrainedModel model = TrainedModel::kImages;
  std::string profile;  // this and what follows are never empty or 0 after parsing: the model has defaults
  std::string binding;
  std::vector<std::string> settings;  // names of control settings; never empty after parsing
  bool binds_all = false;             // every tensor is a candidate, sensitive ones too
  bool mean = false;                  // aggregate by mean with error feedback, whatever the profile says
  std::vector<double> bounds;         // of the share of low-bit rounds, each a row; empty: the profile's
  Damage damage = Damage::kNone;
  int64_t rounds = 900;
  int64_t workers = 8;
  int64_t batch = 0;  // images or sequences per worker and round
  int64_t seeds = 3;
  double learning_rate = 0;
  std::string data;    // the directory of images, or a file of text; empty: what Debian's package has
  std::string audit;   // a file for the audit of the last training; empty for none
  std::string losses;  // a file for its losses, as `banyan calibrate` reads them; empty for none
  bool json = false;
};

// Fills `options`. Returns the exit code when the command ends here: after --help or a usage error.
std::optional<int> ParsePrecisionOptions(absl::Span<const std::string> arguments, PrecisionOptions& options,
                                         std::ostream& out, std::ostream& err);

// --- the command ---

// `arguments` come after the word `precision`. Goes over to the program that has LibTorch; returns the exit code where
// it does not get there.
int BenchPrecisionCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PRECISION_BENCHMARK_PRECISION_OPTIONS_H_
