#include "tools/accuracy_benchmark/accuracy_options.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/check.h"
#include "core/quantity.h"
#include "proto/compression/codec_traits.h"
#include "tools/command_line.h"
#include "tools/other_program.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

constexpr char kNone[] = "none";
constexpr int64_t kMostEpochs = 1000;
constexpr int64_t kMostSeeds = 100;
constexpr int64_t kMostBatch = 6000;
constexpr int64_t kMostRounds = 1000000;
constexpr double kMostMbps = 1e6;

const std::map<std::string, AccuracyScenario>& Scenarios() {
  static const std::map<std::string, AccuracyScenario> kScenarios = {{"static", AccuracyScenario::kStatic},
                                                                     {"degrading", AccuracyScenario::kDegrading},
                                                                     {"fluctuating", AccuracyScenario::kFluctuating},
                                                                     {"dc2", AccuracyScenario::kDc2}};
  return kScenarios;
}

// Returns what the papers compare in the scenario. Halves stand beside floats everywhere: whoever compresses nothing
// can have them for nothing, so they are the baseline to beat.
std::vector<std::string> DefaultCombinations(AccuracyScenario scenario) {
  const std::string half = "{codec: fp16}";
  const std::string uniform = "{codec: topk, ratio: 0.1}";
  const std::string netsense = "{codec: topk, controller: netsense}";
  const std::string da2 = "{codec: topk, controller: da2}";
  const std::string da4 = "{codec: topk, controller: da4}";
  const std::string da5 = "{codec: topk, controller: da5}";
  switch (scenario) {
    case AccuracyScenario::kStatic:
      return {kNone, half, uniform, netsense, da2, da4, da5};
    case AccuracyScenario::kDegrading:
    case AccuracyScenario::kFluctuating:
      return {kNone, half, uniform, netsense};
    case AccuracyScenario::kDc2:
      return {kNone, half, uniform, "{codec: topk, ratio: 0.001}", da2, da4, da5};
  }
  return {};
}

// Returns the encodings of which queues may cut the last levels.
std::vector<std::string> InLevels() {
  std::vector<std::string> all;
  for (const CodecId id : AllCodecIds()) {
    if (TraitsOf(id)->is_trimmable) all.push_back(absl::StrCat("{codec: ", TraitsOf(id)->name, "}"));
  }
  return all;
}

double DefaultMbps(AccuracyScenario scenario) {
  switch (scenario) {
    case AccuracyScenario::kStatic:
      break;
    case AccuracyScenario::kDegrading:
      return 2000;
    case AccuracyScenario::kFluctuating:
    case AccuracyScenario::kDc2:
      return 1000;
  }
  return 200;
}

absl::Status ReadRates(absl::string_view text, std::vector<double>* rates) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const double mbps = ParseBitsPerSecond(part).value_or(0) / 1e6;
    if (!(mbps > 0 && mbps <= kMostMbps)) {
      return absl::InvalidArgumentError(absl::StrCat("expected rates above 0 up to ", kMostMbps,
                                                     " Mbit/s with commas between, such as 200,1Gbit/s, got '", text,
                                                     "'"));
    }
    rates->push_back(mbps);
  }
  return absl::OkStatus();
}

absl::Status ReadShares(absl::string_view text, std::vector<double>* shares) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double share = -1;
    if (!absl::SimpleAtod(part, &share) || !(share >= 0 && share <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected shares from 0 to 1 with commas between, such as 0,0.01,0.5, got '", text, "'"));
    }
    shares->push_back(share);
  }
  return absl::OkStatus();
}

absl::Status AddCombination(absl::string_view text, AccuracyOptions& options) {
  absl::StatusOr<AccuracyOptions::Combination> combination = ParseCombination(text);
  if (combination.ok()) options.combinations.push_back(*std::move(combination));
  return combination.status();
}

CommandLine MakeCommandLine(AccuracyOptions& options, std::string& scenario) {
  CommandLine line(
      options.command,
      "Trains the example's network on Fashion-MNIST in simulated time, with what nodes really encode on the links:\n"
      "what each way to compress costs in accuracy and saves in bytes and time. Links are scaled to the model: at\n"
      "--rate 200 an uncompressed synchronisation takes ten times the computation.",
      options.command + " --compression none --compression '{codec: topk, controller: netsense}' --seeds 1");
  line.OptionalPositional("OVERLAY.yaml",
                          "nodes and links, with the rates of --rate 200 (default: built in, eight nodes in a mesh)",
                          &options.overlay);
  line.Repeated("compression", "YAML",
                "none, or what overlay.yaml has under `compression` (default: those that the papers compare)",
                [&options](absl::string_view text) { return AddCombination(text, options); });
  line.Choice("scenario", {"static", "degrading", "fluctuating", "dc2"},
              "how links change: not (default), to a tenth in ten steps, by competing traffic, at random per node",
              &scenario);
  line.Custom("rate", "R,R,..",
              "what the links stand for at first (default 200; degrading: 2000; fluctuating and dc2: 1000)",
              [&options](absl::string_view text) { return ReadRates(text, &options.mbps); });
  line.FormerName("rate", "mbps");
  line.Custom("trim", "S,S,..",
              "queues cut these shares of the chunks to their heads, by chance (default: none; of bench trim six from "
              "0 to 0.5); without --compression of all encodings in levels",
              [&options](absl::string_view text) { return ReadShares(text, &options.trims); });
  line.Integer("epochs", "N", "over all training images (default 1)", 1, kMostEpochs, &options.epochs);
  line.Integer("seeds", "N", "trainings of each combination (default 3)", 1, kMostSeeds, &options.seeds);
  line.Integer("batch", "N", "images per worker and round (default 16)", 1, kMostBatch, &options.batch);
  line.Integer("weights-every", "N",
               "workers register the model's weights every N rounds, so that netsense prunes (default 0: never)", 0,
               kMostRounds, &options.weights_every);
  line.Number("target", "PERCENT", "the accuracy to which time is taken (default 80)", 0, 100, &options.target);
  line.Text("data", "DIRECTORY", "the dataset's files (default: where Debian has them)", &options.data);
  line.Switch("json", "print JSON", &options.json);
  return line;
}

constexpr char kTrims[] = "0,0.001,0.01,0.1,0.2,0.5";

}  // namespace

absl::StatusOr<AccuracyOptions::Combination> ParseCombination(absl::string_view text) {
  AccuracyOptions::Combination combination{std::string(text), {}};
  if (text == kNone) return combination;
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, "YAML");
  if (!document.ok()) return document.status();
  YamlProblems problems("YAML");
  CompressionSlot(combination.config).read({document->root(), "compression", problems});
  if (!problems.status().ok()) return problems.status();
  return combination;
}

std::optional<int> ParseAccuracyOptions(absl::Span<const std::string> arguments, AccuracyOptions& options,
                                        std::ostream& out, std::ostream& err) {
  std::string scenario = "static";
  const CommandLine line = MakeCommandLine(options, scenario);
  if (std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return code;
  options.scenario = Scenarios().at(scenario);
  if (options.mbps.empty()) options.mbps = {DefaultMbps(options.scenario)};
  if (!options.combinations.empty()) return std::nullopt;
  for (const std::string& text : options.trims.empty() ? DefaultCombinations(options.scenario) : InLevels()) {
    BANYAN_CHECK(AddCombination(text, options).ok());
  }
  return std::nullopt;
}

namespace {

int Measure(const std::string& command, absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  AccuracyOptions options;
  options.command = command;
  if (std::optional<int> code = ParseAccuracyOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/fashion_mnist/accuracy/accuracy_benchmark", command, arguments, out, err);
}

}  // namespace

int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return Measure("banyan bench accuracy", arguments, out, err);
}

int BenchTrimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  const bool is_asked = !words.empty() && (words[0] == kManual || words[0] == kDescribe);
  const bool says_trim = is_asked || std::any_of(words.begin(), words.end(), [](const std::string& word) {
                           return absl::StartsWith(word, "--trim");
                         });
  if (!says_trim) words.push_back(absl::StrCat("--trim=", kTrims));
  return Measure("banyan bench trim", words, out, err);
}

}  // namespace banyan
