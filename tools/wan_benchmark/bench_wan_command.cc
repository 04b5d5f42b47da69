#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/emulated_wan.h"
#include "tools/flag_values.h"
#include "tools/reports/gnuplot_run.h"
#include "tools/reports/progress_bar.h"
#include "tools/wan_benchmark/contender.h"
#include "tools/wan_benchmark/contender_run.h"
#include "tools/wan_benchmark/wan_report.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner_factory.h"
#include "wan/emulator.h"

namespace banyan {
namespace {

constexpr double kMostMegabytes = 4000;
constexpr int64_t kMostRounds = 10000;
constexpr double kMostSeconds = 1e6;
constexpr int64_t kModelMegabyte = 1000 * 1000;
constexpr int64_t kElementBytes = 4;
// As in NETSTORM's evaluation.
constexpr double kRedrawSeconds = 180;

struct BenchWanFlags {
  std::string path;
  double megabytes = 46;  // ResNet-18
  bool dynamic = false;
  double redraw_seconds = kRedrawSeconds;
  RateRange redraw_rates;
  PeerChoice peers;
  std::string only;
  int64_t rounds = 5;
  int64_t warm_up = 2;
  double least_seconds = 0;
  double limit_seconds = 900;
  int64_t seed = 1;
  std::string congestion;
  double bursts = 0;
  std::string plot;
  bool simulate = false;
  bool insecure = false;
  bool json = false;
};

void AddNetworkFlags(CommandLine& line, BenchWanFlags& flags) {
  line.Switch("dynamic", "change all rates at random from time to time, the same ones for each contender",
              &flags.dynamic);
  line.Time("redraw-interval", "TIME", "how often, with --dynamic (default 180)", absl::Seconds(1), 0.1, kMostSeconds,
            &flags.redraw_seconds);
  line.FormerName("redraw-interval", "redraw-seconds");
  line.Custom("redraw-rates", "LOW-HIGH",
              absl::StrCat("uniformly between these (default ", RateRange().ToString(), ")"),
              [&flags](absl::string_view value) {
                const absl::StatusOr<RateRange> range = ParseRateRange(value);
                if (range.ok()) flags.redraw_rates = *range;
                return range.status();
              });
  line.FormerName("redraw-rates", "redraw-mbps");
  line.Needs("redraw-interval", "dynamic");
  line.Needs("redraw-rates", "dynamic");
  line.Integer("seed", "N", "of losses, redrawn rates and wrong ones (default 1)", 0, INT64_MAX, &flags.seed);
  line.Number(
      "bursts", "PART",
      "instead: Banyan with trim_rht, cut by queues and whole, before and in bursts of 2 s in every 5, in which\n"
      "others take this part of the three links that carry most",
      0.01, 0.95, &flags.bursts);
  line.Text("congestion", "NAME", "TCP's congestion control for all, such as bbr (default: the machine's)",
            &flags.congestion);
}

CommandLine MakeCommandLine(BenchWanFlags& flags) {
  CommandLine line(
      "banyan bench wan",
      "Times all-reduces on an emulated WAN: Banyan with each of its features added in turn, and what one would use\n"
      "instead; one process per node, the same network for each, one contender after the other.",
      "banyan bench wan deploy/topologies/internet2.yaml --model-size 46MB --plot wan.png");
  line.Positional("OVERLAY.yaml", "the overlay; every link needs a rate", &flags.path);
  line.Megabytes("model-size", "float32 to sum (default 46MB)", 0.001, kMostMegabytes, &flags.megabytes);
  line.FormerName("model-size", "mbytes", "MB");
  line.Custom("peers", "P,P,..", "of gloo, openmpi and star (default all)", [&flags](absl::string_view value) {
    const absl::StatusOr<PeerChoice> peers = ParsePeers(value);
    if (peers.ok()) flags.peers = *peers;
    return peers.status();
  });
  line.Text("only", "C,C,..", "only these contenders, by the names that --json has", &flags.only);
  AddNetworkFlags(line, flags);
  line.Integer("rounds", "R", "measured all-reduces of each contender (default 5)", 1, kMostRounds, &flags.rounds);
  line.Integer("warm-up", "R", "all-reduces before them (default 2)", 0, kMostRounds, &flags.warm_up);
  line.Time("for", "TIME", "each contender goes on for so long (default: until its rounds are done)", absl::Seconds(1),
            0, kMostSeconds, &flags.least_seconds);
  line.FormerName("for", "seconds");
  line.Time("limit", "TIME", "each contender ends after so long (default 900)", absl::Seconds(1), 1, kMostSeconds,
            &flags.limit_seconds);
  line.Switch("insecure", "no keys and no encryption for Banyan, as Gloo and Open MPI have none", &flags.insecure);
  line.Switch("simulate", "add the simulator's results for Banyan's contenders", &flags.simulate);
  line.Text("plot", "FILE.png", "draw the rates as bars (needs gnuplot)", &flags.plot);
  line.Switch("json", "print JSON", &flags.json);
  return line;
}

const char* PeerProgram(ContenderSystem system) {
  switch (system) {
    case ContenderSystem::kGloo:
      return "bench/gloo_peer";
    case ContenderSystem::kOpenMpi:
      return "bench/openmpi_peer";
    case ContenderSystem::kBanyan:
      break;
  }
  return "bench/banyan_peer";
}

// Why the contender cannot run here, and what to do; empty when it can.
std::string Missing(ContenderSystem system, const BenchPlace& place) {
  if (system == ContenderSystem::kOpenMpi && access(place.mpirun_program.c_str(), X_OK) != 0) {
    return absl::StrCat("Open MPI is left out: ", place.mpirun_program, " is missing (Debian: openmpi-bin)");
  }
  if (FindProgram(PeerProgram(system)).ok()) return "";
  switch (system) {
    case ContenderSystem::kGloo:
      return "Gloo is left out: bench/gloo_peer is not built (Debian: libgloo-dev; then ./banyan bench)";
    case ContenderSystem::kOpenMpi:
      return "Open MPI is left out: bench/openmpi_peer is not built (Debian: libopenmpi-dev; then ./banyan bench)";
    case ContenderSystem::kBanyan:
      break;
  }
  return "Banyan is left out: bench/banyan_peer is not built (./banyan bench)";
}

// What the machine uses unless told otherwise.
std::string CongestionControl(const BenchWanFlags& flags) {
  if (!flags.congestion.empty()) return flags.congestion;
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  file >> name;
  return name;
}

class BenchWan {
 public:
  BenchWan(const BenchWanFlags& flags, std::ostream& err)
      : flags_(flags), bar_("measuring", isatty(STDERR_FILENO) != 0, err) {}

  absl::StatusOr<WanReport> Run() {
    absl::Status status = Prepare();
    for (size_t i = 0; status.ok() && i < contenders_.size(); ++i) status = RunOne(i);
    if (!status.ok()) return status;
    return std::move(report_);
  }

 private:
  absl::Status Prepare() {
    const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags_.path);
    if (!overlay.ok()) return overlay.status();
    if (const absl::Status status = ValidateForEmulation(*overlay); !status.ok()) return status;
    const NetworkView view = MakeNetworkView(*overlay);
    if (view.nodes().size() < 2 || view.nodes().size() > kMaxWanNodes) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected an overlay of 2 to ", kMaxWanNodes, " nodes, got ", view.nodes().size()));
    }
    absl::StatusOr<std::vector<Contender>> contenders =
        flags_.bursts > 0 ? MakeBurstContenders()
                          : MakeContenders(view, flags_.peers, static_cast<uint64_t>(flags_.seed));
    if (contenders.ok()) contenders = SelectContenders(*std::move(contenders), flags_.only);
    if (!contenders.ok()) return contenders.status();
    contenders_ = *std::move(contenders);
    const int64_t elements = std::max<int64_t>(
        1, static_cast<int64_t>(flags_.megabytes * static_cast<double>(kModelMegabyte)) / kElementBytes);
    report_.overlay = flags_.path;
    report_.model_bits = static_cast<double>(elements * kElementBytes) * 8;
    report_.bound_bps = RateBoundBps(view);
    report_.congestion = CongestionControl(flags_);
    report_.dynamic = flags_.dynamic;
    return PrepareRuns(view, elements);
  }

  absl::Status PrepareRuns(const NetworkView& view, int64_t elements) {
    absl::StatusOr<std::string> banyan = OwnProgram();
    if (!banyan.ok()) return banyan.status();
    absl::StatusOr<std::string> text = ReadOverlayText(flags_.path);
    if (!text.ok()) return text.status();
    const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(view);
    if (!hubs.ok()) return hubs.status();
    options_.place.banyan_program = *banyan;
    options_.place.overlay = *std::move(text);
    options_.place.elements = elements;
    options_.place.secured = !flags_.insecure;
    // Where one would put it: well connected.
    options_.place.scheduler_node = view.NameOf(hubs->front());
    options_.wan.banyan_program = *std::move(banyan);
    options_.wan.overlay = flags_.path;
    options_.wan.congestion = flags_.congestion;
    options_.wan.seed = flags_.seed;
    if (flags_.dynamic) options_.wan.redraw_seconds = flags_.redraw_seconds;
    options_.wan.redraw_rates = flags_.redraw_rates;
    options_.rounds = flags_.rounds;
    options_.warm_up_rounds = flags_.warm_up;
    if (flags_.bursts > 0) options_.bursts = WanBursts{.part = flags_.bursts};
    options_.least_time = absl::Seconds(flags_.least_seconds);
    options_.limit = absl::Seconds(flags_.limit_seconds);
    options_.stopped = [this] { return signals_.received(); };
    return absl::OkStatus();
  }

  absl::Status RunOne(size_t index) {
    const Contender& contender = contenders_[index];
    const std::string missing = Missing(contender.system, options_.place);
    if (!missing.empty()) {
      if (std::find(report_.left_out.begin(), report_.left_out.end(), missing) == report_.left_out.end()) {
        report_.left_out.push_back(missing);
      }
      return absl::OkStatus();
    }
    const absl::StatusOr<std::string> program = FindProgram(PeerProgram(contender.system));
    if (!program.ok()) return program.status();
    options_.place.peer_program = *program;
    options_.progress = [this, index](double done) { Show(index, done); };
    Show(index, 0);
    report_.results.push_back(RunContender(contender, options_));
    ContenderResult& result = report_.results.back();
    if (absl::IsCancelled(result.status)) return result.status;
    // The others meet the same.
    if (options_.bursts.has_value() && result.ok()) options_.bursts->loaded = result.loaded;
    if (flags_.simulate && result.ok() && contender.system == ContenderSystem::kBanyan) AddSimulation(result);
    return absl::OkStatus();
  }

  void AddSimulation(ContenderResult& result) const {
    ContenderSimulationOptions simulation;
    simulation.warm_up_rounds = static_cast<uint64_t>(flags_.warm_up);
    simulation.rounds = result.rounds.size();
    if (flags_.dynamic) {
      simulation.redraw = LinkRedraw{.period = absl::Seconds(flags_.redraw_seconds),
                                     .low_bps = flags_.redraw_rates.low_bps(),
                                     .high_bps = flags_.redraw_rates.high_bps(),
                                     .seed = static_cast<uint64_t>(flags_.seed)};
    }
    const absl::StatusOr<double> seconds = SimulatedSeconds(result.contender, options_.place, simulation);
    if (seconds.ok()) result.simulated_seconds = *seconds;
    // What was measured stays.
    if (!seconds.ok()) absl::StrAppend(&result.note, "not simulated: ", std::string(seconds.status().message()));
  }

  void Show(size_t index, double done) {
    bar_.Update((static_cast<double>(index) + done) / static_cast<double>(contenders_.size()),
                absl::FromChrono(std::chrono::steady_clock::now() - start_));
  }

  const StopSignals signals_;
  const BenchWanFlags& flags_;
  ProgressBar bar_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Contender> contenders_;
  ContenderRunOptions options_;
  WanReport report_;
};

absl::Status Report(const BenchWanFlags& flags, const WanReport& report, std::ostream& out) {
  if (flags.bursts > 0) {
    out << (flags.json ? BurstReportJson(report) : BurstReportText(report));
    return absl::OkStatus();
  }
  out << (flags.json ? WanReportJson(report) : WanReportText(report));
  return flags.plot.empty() ? absl::OkStatus() : RunGnuplot(WanReportGnuplot(report, flags.plot));
}

}  // namespace

int BenchWanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  BenchWanFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.path == "-") {
    return line.UsageError("OVERLAY.yaml: expected a file, which each contender reads, got standard input", err);
  }
  const absl::StatusOr<WanReport> report = BenchWan(flags, err).Run();
  const absl::Status status = report.ok() ? Report(flags, *report, out) : report.status();
  if (!status.ok()) {
    err << "banyan bench wan: " << std::string(status.message()) << "\n";
    return kExitFailure;
  }
  if (report->results.empty()) {
    err << "banyan bench wan: nothing was measured: " << absl::StrJoin(report->left_out, "; ") << "\n";
    return kExitFailure;
  }
  const bool all = std::all_of(report->results.begin(), report->results.end(),
                               [](const ContenderResult& result) { return result.ok(); });
  return all ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
