#include "tools/packet_benchmark/packet_options.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/command_line.h"
#include "tools/other_program.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {
namespace {

constexpr int64_t kMostRounds = 1000000;
constexpr int64_t kMostWorkers = 64;
constexpr int64_t kMostBatch = 1000;
constexpr int64_t kMostSeeds = 100;
// A sign, or at least the sign and the exponent.
constexpr int64_t kLeastFloatBits = 9;
constexpr int64_t kMostCutBits = 31;
constexpr double kImageRate = 0.02;
constexpr double kResidualRate = 0.1;

absl::Status ReadSchemes(absl::string_view text, std::vector<std::string>& schemes) {
  const std::vector<std::string> known = PacketSchemeNames();
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    schemes.emplace_back(part);
    if (std::find(known.begin(), known.end(), schemes.back()) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("unknown scheme '", part, "'", DidYouMean(schemes.back(), known),
                                                   "; known are ", absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

absl::Status ReadTrims(absl::string_view text, std::vector<double>& trims) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    trims.push_back(-1);
    if (absl::SimpleAtod(part, &trims.back()) && trims.back() >= 0 && trims.back() <= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("expected shares from 0 to 1 with commas between, such as 0.02,0.5, got '", text, "'"));
  }
  return absl::OkStatus();
}

CommandLine MakeCommandLine(PacketOptions& options, std::string& model) {
  CommandLine line(
      "banyan bench packets",
      "Trains on Fashion-MNIST with gradients in packets of 365 numbers, of which switches cut a share to "
      "their heads by\n"
      "chance, and nothing comes back. A study of what may be cut, and how; jobs have `banyan bench trim`.",
      "banyan bench packets --schemes sign,rht --trim 0.02,0.5 --seeds 1");
  line.Choice("model", {"images", "residual"}, "the example's network (default), or one with batch normalization",
              &model);
  line.Custom("schemes", "NAME,..",
              absl::StrCat("how packets are laid out: ", absl::StrJoin(PacketSchemeNames(), ", "), " (default all)"),
              [&options](absl::string_view text) { return ReadSchemes(text, options.schemes); });
  line.Custom("trim", "S,S,..", "shares of the packets that are cut (default 0,0.02,0.1,0.5)",
              [&options](absl::string_view text) { return ReadTrims(text, options.trims); });
  line.Integer("bits", "N", "that a cut leaves of a number: 1, its sign (default), or from 9 on, its first ones", 1,
               kMostCutBits, &options.bits);
  line.Switch("weights", "cut weights on their way to the workers, as FSDP gathers them, in place of gradients",
              &options.cuts_weights);
  line.Integer("rounds", "N", "of each training (default 600)", 1, kMostRounds, &options.rounds);
  line.Integer("workers", "N", "whose gradients are cut (default 2)", 1, kMostWorkers, &options.workers);
  line.Integer("batch", "N", "images per worker and round (default 64)", 1, kMostBatch, &options.batch);
  line.Integer("seeds", "N", "trainings of each row (default 3)", 1, kMostSeeds, &options.seeds);
  line.Number("learning-rate", "RATE", "the highest, with a momentum of 0.9 (default 0.02, residual 0.1)", 1e-6, 10,
              &options.learning_rate);
  line.Text("data", "DIRECTORY", "the dataset's files (default: where Debian has them)", &options.data);
  line.Switch("json", "print JSON", &options.json);
  return line;
}

}  // namespace

std::vector<std::string> PacketSchemeNames() {
  return {"sign", "sign-rows", "rht", "rht-rows", "topk-rht", "low-rank"};
}

bool KeepsResidual(absl::string_view scheme) { return scheme == "topk-rht" || scheme == "low-rank"; }

std::optional<int> ParsePacketOptions(absl::Span<const std::string> arguments, PacketOptions& options,
                                      std::ostream& out, std::ostream& err) {
  std::string model;
  const CommandLine line = MakeCommandLine(options, model);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return code;
  options.is_residual = model == "residual";
  if (options.bits > 1 && options.bits < kLeastFloatBits) {
    return line.UsageError("--bits: expected 1, or from 9 on: a sign without its whole exponent is no number", err);
  }
  if (options.schemes.empty()) {
    for (const std::string& name : PacketSchemeNames()) {
      if (!options.cuts_weights || !KeepsResidual(name)) options.schemes.push_back(name);
    }
  }
  if (options.cuts_weights && std::any_of(options.schemes.begin(), options.schemes.end(), KeepsResidual)) {
    return line.UsageError("--weights: expected schemes that send every number, such as rht", err);
  }
  if (options.trims.empty()) options.trims = {0, 0.02, 0.1, 0.5};
  if (options.learning_rate == 0) options.learning_rate = options.is_residual ? kResidualRate : kImageRate;
  return std::nullopt;
}

int BenchPacketsCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PacketOptions options;
  if (std::optional<int> code = ParsePacketOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/packets/packet_benchmark", "banyan bench packets", arguments, out, err);
}

}  // namespace banyan
