#include "tools/precision_benchmark/precision_options.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "precision/profile/control_settings.h"
#include "tools/command_line.h"
#include "tools/other_program.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {
namespace {

constexpr int64_t kMostRounds = 1000000;
constexpr int64_t kMostWorkers = 64;
constexpr int64_t kMostBatch = 1000;
constexpr int64_t kMostSeeds = 100;

absl::Status ReadSettings(absl::string_view text, std::vector<std::string>& settings) {
  const std::vector<std::string> known = ControlSettingNames();
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const std::string name(part);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown setting '", name, "'", DidYouMean(name, known),
                                                     "; known are ", absl::StrJoin(known, ", ")));
    }
    settings.push_back(name);
  }
  return absl::OkStatus();
}

absl::Status ReadBounds(absl::string_view text, std::vector<double>& bounds) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double bound = -1;
    if (!absl::SimpleAtod(part, &bound) || !(bound >= 0 && bound <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected shares from 0 to 1 with commas between, such as 0.2,0.5, got '", text, "'"));
    }
    bounds.push_back(bound);
  }
  return absl::OkStatus();
}

CommandLine MakeCommandLine(PrecisionOptions& options, std::string& model, std::string& damage) {
  CommandLine line(
      "banyan bench precision",
      "Trains the example's network or a residual one on Fashion-MNIST, or a small transformer on text, with "
      "rounds of full precision and\n"
      "low-bit ones, as control settings decide. All workers and the reducer live in one process; votes "
      "are encoded as\n"
      "they would be sent.",
      "banyan bench precision --settings fp32,static,calibrated --seeds 1");
  line.Choice("model", {"images", "residual", "text"}, "what is trained (default images)", &model);
  line.Text("profile", "FILE", "the operating profile (default: the model's, below deploy/precision)",
            &options.profile);
  line.Text("binding", "FILE", "the binding (default: the model's, below deploy/precision)", &options.binding);
  line.Custom("settings", "NAME,..", "control settings (default fp32,static,calibrated)",
              [&options](absl::string_view text) { return ReadSettings(text, options.settings); });
  line.Custom("exposure", "SHARE,..",
              "bounds on the share of low-bit rounds, in place of the profile's; a row for each",
              [&options](absl::string_view text) { return ReadBounds(text, options.bounds); });
  line.Switch("bind-all", "let every tensor go low-bit, sensitive ones too", &options.binds_all);
  line.Switch("mean", "aggregate by mean, with error feedback", &options.mean);
  line.Choice("damage", {"learning-rate", "labels", "poison"},
              "harm each training for a while, to see whether it is noticed", &damage);
  line.Integer("rounds", "N", "of each training (default 900)", 30, kMostRounds, &options.rounds);
  line.Integer("workers", "N", "that vote (default 8)", 1, kMostWorkers, &options.workers);
  line.Integer("batch", "N", "images or sequences per worker and round (default 16, of text 8)", 1, kMostBatch,
               &options.batch);
  line.Integer("seeds", "N", "trainings of each setting (default 3)", 1, kMostSeeds, &options.seeds);
  line.Number("learning-rate", "RATE",
              "the highest (default 0.02, residual 0.1, with a momentum of 0.9; of text 0.003 with AdamW)", 1e-6, 10,
              &options.learning_rate);
  line.Text("data", "PATH", "the directory of images, or a file of text (default: what Debian has)", &options.data);
  line.Text("audit", "FILE", "write the audit of the last training there, as JSON", &options.audit);
  line.Text("losses", "FILE", "write the losses of the last training there, for banyan calibrate", &options.losses);
  line.Switch("json", "print JSON", &options.json);
  return line;
}

struct ModelDefaults {
  const char* directory;  // of profile and binding
  int64_t batch;
  double learning_rate;
};

ModelDefaults DefaultsOf(TrainedModel model) {
  if (model == TrainedModel::kText) return {"deploy/precision/text/", 8, 0.003};
  if (model == TrainedModel::kResidual) return {"deploy/precision/residual/", 16, 0.1};
  return {"deploy/precision/", 16, 0.02};
}

void FillDefaults(PrecisionOptions& options) {
  const ModelDefaults defaults = DefaultsOf(options.model);
  if (options.settings.empty()) options.settings = {"fp32", "static", "calibrated"};
  if (options.profile.empty()) options.profile = absl::StrCat(defaults.directory, "profile.yaml");
  if (options.binding.empty()) options.binding = absl::StrCat(defaults.directory, "binding.yaml");
  if (options.batch == 0) options.batch = defaults.batch;
  if (options.learning_rate == 0) options.learning_rate = defaults.learning_rate;
}

}  // namespace

std::optional<int> ParsePrecisionOptions(absl::Span<const std::string> arguments, PrecisionOptions& options,
                                         std::ostream& out, std::ostream& err) {
  std::string model, damage;
  const CommandLine line = MakeCommandLine(options, model, damage);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return code;
  if (model == "residual") options.model = TrainedModel::kResidual;
  if (model == "text") options.model = TrainedModel::kText;
  FillDefaults(options);
  if (damage == "learning-rate") options.damage = Damage::kLearningRate;
  if (damage == "labels") options.damage = Damage::kLabels;
  if (damage == "poison") options.damage = Damage::kPoison;
  return std::nullopt;
}

int BenchPrecisionCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PrecisionOptions options;
  if (std::optional<int> code = ParsePrecisionOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/precision/precision_benchmark", "banyan bench precision", arguments, out, err);
}

}  // namespace banyan
