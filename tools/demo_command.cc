#include "tools/demo_command.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/command_line.h"
#include "tools/demo_dashboard.h"
#include "tools/demo_overlay.h"
#include "tools/demo_run.h"
#include "tools/program_path.h"
#include "tools/stop_signals.h"
#include "tools/work_directory.h"

namespace banyan {
namespace {

constexpr int64_t kMaxRounds = 1000000;
constexpr int64_t kMaxBatch = 1000;

struct DemoFlags {
  std::string overlay;  // empty: the built-in one
  int64_t rounds = 600;
  int64_t batch = 32;
  int64_t seed = 1;
  bool json = false;
  bool keep_logs = false;
};

CommandLine MakeCommandLine(DemoFlags& flags) {
  CommandLine line(
      "banyan demo",
      "Nine data centres train one network on Fashion-MNIST, on this machine: a scheduler, nine nodes and nine\n"
      "training processes over loopback. Ends with one line that says whether all replicas are identical.",
      "banyan demo --rounds 200");
  line.Text("overlay", "FILE", "nodes and links of another demo (default: built in, nine nodes of Internet2)",
            &flags.overlay);
  line.Integer("rounds", "N", "steps of training (default 600)", 1, kMaxRounds, &flags.rounds);
  line.Integer("batch", "N", "images per step and process (default 32)", 1, kMaxBatch, &flags.batch);
  line.Integer("seed", "N", "of the order of images (default 1)", 0, kMaxRounds, &flags.seed);
  line.Switch("json", "print the result as JSON", &flags.json);
  line.Switch("keep-logs", "keep the directory with overlay and logs", &flags.keep_logs);
  return line;
}

absl::StatusOr<std::string> ReadOverlay(const std::string& path) {
  if (path.empty()) return std::string(DefaultDemoOverlay());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": expected an overlay file, cannot read it or it is empty"));
  }
  return text.str();
}

absl::StatusOr<DemoJobOptions> MakeJobOptions(const DemoFlags& flags) {
  DemoJobOptions options;
  absl::StatusOr<std::string> overlay = ReadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay.status();
  options.overlay = *std::move(overlay);
  absl::StatusOr<std::vector<DemoNode>> nodes = ReadDemoNodes(options.overlay, flags.overlay);
  if (!nodes.ok()) return nodes.status();
  options.nodes = *std::move(nodes);
  absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  options.banyan_program = *std::move(banyan);
  absl::StatusOr<std::string> trainer = FindProgram("examples/fashion_mnist/trainer");
  if (!trainer.ok()) return trainer.status();
  options.trainer_program = *std::move(trainer);
  options.trainer_arguments = {absl::StrCat("--rounds=", flags.rounds), absl::StrCat("--batch=", flags.batch),
                               absl::StrCat("--seed=", flags.seed)};
  return options;
}

absl::StatusOr<DemoProgress> StartAndWatch(const DemoFlags& flags, std::ostream& err) {
  const StopSignals signals;
  absl::StatusOr<DemoJobOptions> options = MakeJobOptions(flags);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-demo");
  if (!directory.ok()) return directory.status();
  if (flags.keep_logs) {
    (*directory)->Keep();
    err << "logs are in " << (*directory)->path() << std::endl;
  }
  err << options->nodes.size()
      << " nodes over loopback, whose links are not shaped: times are this machine's, not a wide-area network's"
      << std::endl;
  DemoScreen screen(err, TerminalWidth(STDERR_FILENO));
  return RunDemo(*options, flags.rounds, signals, **directory, screen);
}

}  // namespace

int DemoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  DemoFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::StatusOr<DemoProgress> result = StartAndWatch(flags, err);
  if (!result.ok()) {
    err << "banyan demo: " << result.status().message() << "\n";
    return kExitFailure;
  }
  out << (flags.json ? SummaryJson(*result) : SummaryLine(*result)) << "\n";
  return result->replicas_identical() ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
