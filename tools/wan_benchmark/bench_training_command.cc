#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "bench/result_table.h"
#include "core/json_writer.h"
#include "core/quantity.h"
#include "core/units.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "posix/work_directory.h"
#include "proto/compression/codec_traits.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flag_values.h"
#include "tools/reports/plan_reports.h"
#include "tools/reports/progress_bar.h"
#include "tools/wan_benchmark/contender.h"
#include "tools/wan_benchmark/contender_run.h"
#include "topology/advice/training_forecast.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

constexpr int64_t kMostSites = 64;
constexpr int64_t kMostSyncs = 1000;
constexpr double kMostModelMegabytes = 4000;
constexpr double kMostStepSeconds = 1000;

struct BenchTrainingFlags {
  std::vector<double> rates_mbps = {50, 200, 1000, 5000};
  std::vector<int64_t> steps = {1, 8, 32, 128};
  std::string method = "diloco";
  std::string codec = "fp32";
  int64_t sites = 2;
  double delay_ms = 10;
  double megabytes = 20;
  double step_seconds = 0.05;
  int64_t syncs = 3;
  bool insecure = false;
  bool json = false;
};

absl::Status ReadRates(absl::string_view text, std::vector<double>& rates_mbps) {
  rates_mbps.clear();
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<double> bps = ParseBitsPerSecond(part);
    if (!bps.ok()) return bps.status();
    rates_mbps.push_back(*bps / kBitsPerMegabit);
  }
  return absl::OkStatus();
}

absl::Status ReadSteps(absl::string_view text, std::vector<int64_t>& steps) {
  steps.clear();
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(part, &count) || count < 1) {
      return absl::InvalidArgumentError(absl::StrCat("expected numbers of steps such as 1,8,32, got '", text, "'"));
    }
    steps.push_back(count);
  }
  return absl::OkStatus();
}

CommandLine MakeCommandLine(BenchTrainingFlags& flags) {
  CommandLine line(
      "banyan bench training",
      "Measures utilisation on emulated WANs, the part of the time in which steps of a training are computed, beside\n"
      "what `banyan plan --steps-per-sync` predicts. Steps sleep, and synchronise as those of real trainings.",
      "banyan bench training --rates 50,1000 --steps-per-sync 8,128 --method streaming");
  line.Custom("rates", "R,R,..", "of all links, in Mbit/s or with units (default 50,200,1000,5000)",
              [&flags](absl::string_view value) { return ReadRates(value, flags.rates_mbps); });
  line.Custom("steps-per-sync", "N,N,..", "steps between two synchronisations (default 1,8,32,128)",
              [&flags](absl::string_view value) { return ReadSteps(value, flags.steps); });
  line.Choice("method", {"attach", "diloco", "streaming"}, "how sites synchronise (default diloco)", &flags.method);
  line.Text("codec", "NAME", "in which gradients travel (default fp32)", &flags.codec);
  line.Integer("sites", "N", "each with a link to each other (default 2)", 2, kMostSites, &flags.sites);
  line.Time("delay", "TIME", "of each link, one way (default 10ms)", absl::Milliseconds(1), 0, 1000, &flags.delay_ms);
  line.Megabytes("model-size", "of float32 (default 20MB)", 0.001, kMostModelMegabytes, &flags.megabytes);
  line.Time("step-seconds", "TIME", "what a step takes without communication (default 0.05)", absl::Seconds(1), 1e-4,
            kMostStepSeconds, &flags.step_seconds);
  line.Integer("syncs", "N", "measured synchronisations of each cell (default 3)", 1, kMostSyncs, &flags.syncs);
  line.Switch("insecure", "no keys and no encryption", &flags.insecure);
  line.Switch("json", "print JSON", &flags.json);
  return line;
}

std::string OverlayText(const BenchTrainingFlags& flags, double mbps) {
  std::string text = "nodes:\n";
  for (int64_t i = 1; i <= flags.sites; ++i) absl::StrAppend(&text, "  - {name: s", i, "}\n");
  absl::StrAppend(&text, "links:\n");
  for (int64_t i = 1; i <= flags.sites; ++i) {
    for (int64_t j = i + 1; j <= flags.sites; ++j) {
      absl::StrAppend(&text, "  - {between: [s", i, ", s", j, "], mbps: ", mbps, ", delay_ms: ", flags.delay_ms, "}\n");
    }
  }
  return absl::StrCat(text, "compression: {codec: ", flags.codec, "}\n");
}

class BenchTraining {
 public:
  BenchTraining(const BenchTrainingFlags& flags, std::ostream& err)
      : flags_(flags), bar_("measuring", isatty(STDERR_FILENO) != 0, err) {
    if (flags.method == "attach") steps_ = {1};
    if (flags.method != "attach") steps_ = flags.steps;
  }

  absl::StatusOr<ResultTable> Run() {
    absl::Status status = Prepare();
    for (const double mbps : flags_.rates_mbps) {
      for (const int64_t steps : steps_) {
        if (status.ok()) status = RunCell(mbps, steps);
      }
    }
    if (!status.ok()) return status;
    return std::move(table_);
  }

 private:
  absl::Status Prepare() {
    const absl::StatusOr<CodecId> codec = ParseCodecName(flags_.codec);
    if (!codec.ok()) return codec.status();
    sent_part_ = SentPartOf(*codec);
    absl::StatusOr<std::string> banyan = OwnProgram();
    if (!banyan.ok()) return banyan.status();
    absl::StatusOr<std::string> peer = FindProgram("bench/banyan_peer");
    if (!peer.ok()) return peer.status();
    absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-bench-training");
    if (!directory.ok()) return directory.status();
    directory_ = *std::move(directory);
    options_.wan.banyan_program = *banyan;
    options_.place.banyan_program = *std::move(banyan);
    options_.place.peer_program = *std::move(peer);
    options_.place.elements =
        std::max<int64_t>(1, static_cast<int64_t>(flags_.megabytes * 1e6) / banyan::kElementBytes);
    options_.place.secured = !flags_.insecure;
    options_.place.scheduler_node = "s1";
    options_.warm_up_rounds = 1;
    options_.rounds = 1;
    options_.stopped = [this] { return signals_.received(); };
    table_.columns = {{"Mbit/s", "mbps"},
                      {"steps", "steps_per_sync"},
                      {"measured", "measured_utilisation"},
                      {"predicted", "predicted_utilisation"},
                      {"measured / predicted", "ratio"}};
    return absl::OkStatus();
  }

  absl::Status RunCell(double mbps, int64_t steps) {
    options_.place.overlay = OverlayText(flags_, mbps);
    if (absl::Status status = directory_->Write("overlay.yaml", options_.place.overlay); !status.ok()) return status;
    options_.wan.overlay = directory_->File("overlay.yaml");
    const absl::StatusOr<double> predicted = Predict(steps);
    if (!predicted.ok()) return predicted.status();
    Contender contender;
    contender.name = flags_.method;
    contender.planner = "packed";
    contender.awareness = true;
    contender.multipath = true;
    contender.training = Contender::Training{flags_.method, steps, flags_.step_seconds, flags_.syncs};
    const ContenderResult result = RunContender(contender, options_);
    if (!result.ok()) return result.status;
    const double computed = static_cast<double>(steps * flags_.syncs) * flags_.step_seconds;
    const double measured = computed / MedianSeconds(result);
    const auto percent = [](double part) { return Cell{absl::StrFormat("%.1f %%", 100 * part), part}; };
    table_.rows.push_back({Cell::Number(mbps), Cell::Number(static_cast<double>(steps)), percent(measured),
                           percent(*predicted), Cell::Number(measured / *predicted, 3)});
    bar_.Update(static_cast<double>(table_.rows.size()) / static_cast<double>(flags_.rates_mbps.size() * steps_.size()),
                absl::FromChrono(std::chrono::steady_clock::now() - start_));
    return absl::OkStatus();
  }

  // As `banyan plan` does.
  absl::StatusOr<double> Predict(int64_t steps) const {
    const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(options_.place.overlay, "overlay.yaml");
    if (!overlay.ok()) return overlay.status();
    const NetworkView view = MakeNetworkView(*overlay);
    absl::StatusOr<PlannerConfig> config = MakePlannerConfig(*overlay, view);
    if (!config.ok()) return config.status();
    config->tensors = {options_.place.elements};
    const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
    if (!policy.ok()) return policy.status();
    const TrainingForecast forecast(view, *policy, config->tensors, config->chunk_min_elements, sent_part_,
                                    absl::Seconds(flags_.step_seconds));
    const SyncMethod method = flags_.method == "attach"   ? SyncMethod::kAttach
                              : flags_.method == "diloco" ? SyncMethod::kDiLoCo
                                                          : SyncMethod::kStreaming;
    return forecast.Utilisation(method, steps);
  }

  const StopSignals signals_;
  const BenchTrainingFlags& flags_;
  ProgressBar bar_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<int64_t> steps_;
  double sent_part_ = 1;
  std::unique_ptr<WorkDirectory> directory_;
  ContenderRunOptions options_;
  ResultTable table_;
};

}  // namespace

int BenchTrainingCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  BenchTrainingFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const absl::StatusOr<ResultTable> table = BenchTraining(flags, err).Run();
  if (!table.ok()) return line.Failure(table.status(), err);
  if (!flags.json) {
    out << table->AsText();
    return kExitSuccess;
  }
  JsonWriter json;
  table->WriteTo(json);
  out << json.text() << "\n";
  return kExitSuccess;
}

}  // namespace banyan
