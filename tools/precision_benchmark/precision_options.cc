#include "tools/precision_benchmark/precision_options.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "precision/profile/control_settings.h"
#include "tools/command_line.h"
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

CommandLine MakeCommandLine(PrecisionOptions& options, std::string& damage) {
  CommandLine line(
      "banyan bench precision",
      "Trains the example's network on Fashion-MNIST with rounds of full precision and low-bit ones, as control\n"
      "settings decide. All workers and the reducer live in one process; votes are encoded as they would be sent.",
      "banyan bench precision --settings fp32,static,calibrated --seeds 1");
  line.Text("profile", "FILE", "the operating profile (default deploy/precision/profile.yaml)", &options.profile);
  line.Text("binding", "FILE", "the binding (default deploy/precision/binding.yaml)", &options.binding);
  line.Custom("settings", "NAME,..", "control settings (default fp32,static,calibrated)",
              [&options](absl::string_view text) { return ReadSettings(text, options.settings); });
  line.Switch("bind-all", "let every tensor go low-bit, sensitive ones too", &options.binds_all);
  line.Switch("mean", "aggregate by mean, with error feedback", &options.mean);
  line.Choice("damage", {"learning-rate", "labels", "poison"},
              "harm each training for a while, to see whether it is noticed", &damage);
  line.Integer("rounds", "N", "of each training (default 900)", 30, kMostRounds, &options.rounds);
  line.Integer("workers", "N", "that vote (default 8)", 1, kMostWorkers, &options.workers);
  line.Integer("batch", "N", "images per worker and round (default 16)", 1, kMostBatch, &options.batch);
  line.Integer("seeds", "N", "trainings of each setting (default 3)", 1, kMostSeeds, &options.seeds);
  line.Number("learning-rate", "RATE", "the highest, with a momentum of 0.9 (default 0.02)", 1e-6, 10,
              &options.learning_rate);
  line.Text("data", "DIRECTORY", "the dataset's files (default: where Debian has them)", &options.data);
  line.Text("audit", "FILE", "write the audit of the last training there, as JSON", &options.audit);
  line.Text("losses", "FILE", "write the losses of the last training there, for banyan calibrate", &options.losses);
  line.Switch("json", "print JSON", &options.json);
  return line;
}

}  // namespace

std::optional<int> ParsePrecisionOptions(absl::Span<const std::string> arguments, PrecisionOptions& options,
                                         std::ostream& out, std::ostream& err) {
  std::string damage;
  const CommandLine line = MakeCommandLine(options, damage);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return code;
  if (options.settings.empty()) options.settings = {"fp32", "static", "calibrated"};
  if (damage == "learning-rate") options.damage = Damage::kLearningRate;
  if (damage == "labels") options.damage = Damage::kLabels;
  if (damage == "poison") options.damage = Damage::kPoison;
  return std::nullopt;
}

}  // namespace banyan
