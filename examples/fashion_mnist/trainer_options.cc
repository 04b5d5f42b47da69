#include "examples/fashion_mnist/trainer_options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

constexpr int64_t kMaxWorld = 10000;
constexpr int64_t kMaxRounds = 1000000;
constexpr int64_t kMaxBatch = 6000;
constexpr int64_t kMaxHidden = 100000;

double DefaultRate(const std::string& optimizer) {
  return optimizer == "adam" ? 0.006 : optimizer == "sgd" ? 0.08 : 0.05;
}

CommandLine MakeCommandLine(TrainerOptions& options) {
  CommandLine line(
      "trainer",
      "Trains a small convolutional network on its part of Fashion-MNIST, together with the other training\n"
      "processes of the job.",
      "trainer --node unix:/run/banyan/n1 --rank 0 --world 9 --epochs 2");
  line.Text("node", "SOCKET", "where the data centre's node takes training processes, unix:/path", &options.node);
  line.Integer("worker", "N", "this process among those of the node, from 0 (default 0)", 0, kMaxWorld,
               &options.worker);
  line.Integer("rank", "N", "this process among all, from 0 (default 0)", 0, kMaxWorld, &options.rank);
  line.Integer("world", "N", "training processes in all (default 1)", 1, kMaxWorld, &options.world);
  line.Integer("rounds", "N", "steps (default 600)", 1, kMaxRounds, &options.rounds);
  line.Integer("epochs", "N", "instead of --rounds: how often to go over the images", 1, kMaxRounds, &options.epochs);
  line.Integer("local-steps", "N",
               "train so many steps alone in each round (DiLoCo), instead of one with all others' gradients", 1,
               kMaxRounds, &options.local_steps);
  line.Integer("batch", "N", "images per step (default 32)", 1, kMaxBatch, &options.batch);
  line.Integer("seed", "N", "of first values and order of images (default 1)", 0, kMaxRounds, &options.seed);
  line.Choice("optimizer", {"sgd", "momentum", "adam", "node-adam"},
              "adam of each replica (default), momentum of each process, neither, or the one that `aggregation` of\n"
              "overlay.yaml names, which the nodes run (node-adam)",
              &options.optimizer);
  line.Number("learning-rate", "RATE",
              "the highest: it rises to it and falls to 0 (default: sgd 0.08, momentum 0.05, adam 0.006; a tenth\n"
              "with --local-steps)",
              0, 1000, &options.learning_rate);
  line.Integer("hidden", "N", "neurons of the hidden full layer, 811 parameters each (default 128)", 1, kMaxHidden,
               &options.hidden);
  line.Text("data", "DIRECTORY", absl::StrCat("the dataset's files (default ", kFashionMnistDirectory, ")"),
            &options.data);
  line.Switch("json", "print a JSON object for every step", &options.json);
  return line;
}

}  // namespace

std::optional<int> ParseTrainerOptions(absl::Span<const std::string> arguments, TrainerOptions& options,
                                       std::ostream& out, std::ostream& err) {
  const CommandLine line = MakeCommandLine(options);
  if (std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return code;
  if (!absl::StartsWith(options.node, "unix:/")) {
    return line.UsageError(absl::StrCat("expected --node unix:/path, got '", options.node, "'"), err);
  }
  if (options.rank >= options.world) {
    return line.UsageError(absl::StrCat("expected --rank below --world, got ", options.rank, " of ", options.world),
                           err);
  }
  // The outer optimizer moves about ten times as far as a round's steps have: its momentum is 0.9.
  const double part = options.local_steps > 0 ? 0.1 : 1;
  if (options.learning_rate == 0) options.learning_rate = part * DefaultRate(options.optimizer);
  return std::nullopt;
}

}  // namespace banyan
