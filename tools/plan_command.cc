#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/flag_values.h"
#include "tools/flags/shared_flags.h"
#include "tools/reports/gnuplot_run.h"
#include "tools/reports/plan_reports.h"
#include "topology/advice/price_frontier.h"
#include "topology/advice/upgrade_advice.h"
#include "topology/chunk_assignment.h"
#include "topology/evaluation/simple_bound.h"
#include "topology/fit/price_fit.h"
#include "topology/overlay/did_you_mean.h"
#include "topology/overlay/measured_links.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

constexpr int64_t kMostStepsPerSync = 1'000'000;
constexpr double kMostStepSeconds = 1e6;

// What the command line says beyond the file.
struct PlanFlags {
  std::string path;
  std::string measurements;  // a table to plan from instead
  PlannerFlags planner;
  std::optional<std::string> root;
  int64_t arity = 0;        // 0: the file's
  std::string multipath;    // "on" or "off"; empty: the file's multipath.enabled
  int64_t model_bytes = 0;  // 0: unknown
  bool json = false;
  bool dot = false;
  bool advise = false;
  bool yaml = false;
  std::optional<double> budget;  // of a round
  int64_t rounds = 0;            // of a training; 0: unknown
  bool frontier = false;
  std::string plot;
  bool is_of_training = false;            // with --steps-per-sync
  std::optional<int64_t> steps_per_sync;  // empty: auto
  double step_seconds = 0;
  double utilisation = 0.95;
};

absl::Status ReadBudget(absl::string_view text, PlanFlags& flags) {
  double budget = 0;
  if (!absl::SimpleAtod(text, &budget) || !std::isfinite(budget) || budget < 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected a price of at least 0, got '", text, "'"));
  }
  flags.budget = budget;
  return absl::OkStatus();
}

void AddPriceFlags(CommandLine& line, PlanFlags& flags) {
  line.Custom("budget", "P",
              "the fastest rounds that cost at most P each, at the price_per_gb of links and nodes; default: "
              "topology.budget_per_round",
              [&flags](absl::string_view value) { return ReadBudget(value, flags); });
  line.Switch("frontier", "what rounds cost and take, from the cheapest to the fastest", &flags.frontier);
  line.Text("plot", "FILE.svg", "draw the frontier (needs gnuplot)", &flags.plot);
  line.Integer("rounds", "N", "of a training, to print its price too", 1, int64_t{1} << 40, &flags.rounds);
  for (const char* name : {"budget", "frontier", "rounds"}) line.Needs(name, "model-size");
  line.Needs("plot", "frontier");
  for (const char* other : {"budget", "dot", "multipath", "advise"}) line.Exclude("frontier", other);
}

absl::Status ReadStepsPerSync(absl::string_view text, PlanFlags& flags) {
  flags.is_of_training = true;
  int64_t steps = 0;
  if (text == "auto") return absl::OkStatus();
  if (!absl::SimpleAtoi(text, &steps) || steps < 1 || steps > kMostStepsPerSync) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected auto, or 1 to ", kMostStepsPerSync, " steps, got '", text, "'"));
  }
  flags.steps_per_sync = steps;
  return absl::OkStatus();
}

void AddTrainingFlags(CommandLine& line, PlanFlags& flags) {
  line.Custom("steps-per-sync", "N",
              "instead: the part of the time in which accelerators compute, with each codec, where sites synchronise "
              "every N steps; auto: every 1, 8, 32, 128, and as rarely as --utilisation needs",
              [&flags](absl::string_view value) { return ReadStepsPerSync(value, flags); });
  line.Time("step-seconds", "TIME", "with --steps-per-sync: what a step takes without communication", absl::Seconds(1),
            1e-6, kMostStepSeconds, &flags.step_seconds);
  line.Number("utilisation", "PART", "with --steps-per-sync auto: how much is to be reached (default 0.95)", 0.01,
              0.999, &flags.utilisation);
  for (const char* other : {"model-size", "step-seconds"}) line.Needs("steps-per-sync", other);
  for (const char* name : {"step-seconds", "utilisation"}) line.Needs(name, "steps-per-sync");
  for (const char* other : {"frontier", "dot", "advise", "rounds", "yaml"}) line.Exclude("steps-per-sync", other);
}

CommandLine MakeCommandLine(PlanFlags& flags) {
  CommandLine line(
      "banyan plan",
      "Plans how gradients travel over an overlay: trees, shares, delays, auxiliary paths, the all-reduce rates\n"
      "that the links allow without and with these, and a bound that no scheme can beat. Or says which links\n"
      "to make faster, what faster rounds cost, or how rarely sites have to synchronise.",
      "banyan plan deploy/topologies/internet2.yaml --planner fapt --roots all");
  line.OptionalPositional("OVERLAY.yaml", "the overlay; nodes and links suffice", &flags.path);
  line.Text("from-measurements", "FILE",
            "instead of an overlay: rows of from, to, Mbit/s and the milliseconds of a round trip, as of iperf3 and "
            "ping, between commas, tabs or spaces; a header may name from, to, mbps, rtt_ms, delay_ms",
            &flags.measurements);
  line.Switch("advise",
              "what one more Mbit/s of each link and host is worth, the best upgrades, and what is faster than it need "
              "be",
              &flags.advise);
  flags.planner.AddTo(line);
  line.Text("root", "NAME", "plan one tree, on this node", &flags.root);
  line.Choice("multipath", {"on", "off"}, "auxiliary paths; default: as multipath.enabled says", &flags.multipath);
  line.FormerName("multipath", "auxiliary");
  line.Integer("k", "K", "bkt: children per node", 1, kMaxOverlayNodes, &flags.arity);
  line.Custom("model-size", "B", "plan for the time that a round of such a model takes",
              [&flags](absl::string_view value) {
                const absl::StatusOr<int64_t> bytes = ReadModelBytes(value);
                if (bytes.ok()) flags.model_bytes = *bytes;
                return bytes.status();
              });
  line.FormerName("model-size", "model-bytes");
  AddPriceFlags(line, flags);
  AddTrainingFlags(line, flags);
  line.Switch("json", "print JSON", &flags.json);
  line.Switch("dot", "print a graph for graphviz", &flags.dot);
  line.Switch("yaml", "print the overlay that the measurements make, to begin with", &flags.yaml);
  line.Exclude("json", "dot");
  line.Needs("yaml", "from-measurements");
  for (const char* other :
       {"planner", "roots", "shares", "root", "k", "multipath", "dot", "yaml", "budget", "rounds"}) {
    line.Exclude("advise", other);
  }
  return line;
}

absl::Status CheckPriceUse(const std::string& planner) {
  const std::string fault = UseFault("budget_per_round", planner);
  if (fault.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--budget and --frontier: ", fault, "; add --planner packed"));
}

absl::Status ApplyFlags(const PlanFlags& flags, OverlayConfig& overlay) {
  TopologyConfig& topology = overlay.topology;
  absl::Status status = flags.planner.Apply(overlay);
  if (flags.arity > 0) status.Update(CheckPlannerUse("k", topology.planner));
  if (flags.root.has_value()) status.Update(CheckPlannerUse("root", topology.planner));
  if (flags.budget.has_value() || flags.frontier) status.Update(CheckPriceUse(topology.planner));
  if (!status.ok()) return status;
  if (flags.budget.has_value()) topology.budget_per_round = flags.budget;
  if (!flags.multipath.empty()) overlay.multipath.enabled = flags.multipath == "on";
  if (flags.arity > 0) topology.arity = static_cast<int>(flags.arity);
  if (flags.root.has_value()) {
    std::vector<std::string> names;
    for (const NodeConfig& node : overlay.nodes) names.push_back(node.name);
    if (std::find(names.begin(), names.end(), *flags.root) == names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--root: unknown node '", *flags.root, "'", DidYouMean(*flags.root, names)));
    }
    if (flags.planner.has_roots() && flags.planner.roots() != 1) {
      return absl::InvalidArgumentError("--root plans one tree; leave --roots out or give 1");
    }
    topology.root = flags.root;
    topology.roots = 1;
  }
  return absl::OkStatus();
}

int Fail(const absl::Status& status, std::ostream& err) {
  err << "banyan plan: " << std::string(status.message()) << "\n";
  return kExitFailure;
}

// Returns the text of the overlay that the table of measurements makes.
absl::StatusOr<std::string> MeasuredOverlay(const std::string& file_name) {
  const absl::StatusOr<std::string> table = ReadOverlayText(file_name);
  return table.ok() ? OverlayOfMeasurements(*table, file_name) : table.status();
}

// Returns the overlay that the flags name, or that their measurements make.
absl::StatusOr<OverlayConfig> OverlayOf(const PlanFlags& flags) {
  if (flags.measurements.empty()) return LoadOverlay(flags.path);
  const absl::StatusOr<std::string> text = MeasuredOverlay(flags.measurements);
  return text.ok() ? ParseOverlay(*text, flags.measurements) : text.status();
}

int PrintOverlay(const PlanFlags& flags, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<std::string> text = MeasuredOverlay(flags.measurements);
  if (!text.ok()) return Fail(text.status(), err);
  out << *text;
  return kExitSuccess;
}

int PrintAdvice(const PlanFlags& flags, const NetworkView& view, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(view);
  if (!advice.ok()) return Fail(advice.status(), err);
  const double model_bits = 8 * static_cast<double>(flags.model_bytes);
  out << (flags.json ? AdviceJson(*advice, view, model_bits) : AdviceText(*advice, view, model_bits));
  return kExitSuccess;
}

int PrintFrontier(const PlanFlags& flags, const NetworkView& view, const PlannerConfig& config, std::ostream& out,
                  std::ostream& err) {
  const absl::StatusOr<std::vector<FrontierPoint>> points = FindPriceFrontier(view, config);
  if (!points.ok()) return Fail(points.status(), err);
  out << (flags.json ? FrontierJson(*points, flags.rounds) : FrontierText(*points, flags.rounds));
  if (flags.plot.empty()) return kExitSuccess;
  const absl::Status drawn = RunGnuplot(FrontierGnuplot(*points, flags.plot));
  return drawn.ok() ? kExitSuccess : Fail(drawn, err);
}

// With six digits, and never less.
std::string RoundedUp(double price) {
  const double step = std::pow(10, std::floor(std::log10(price)) - 5);
  return absl::StrFormat("%.6g", std::ceil((1 - kBudgetRounding) * price / step) * step);
}

// Tells whether the plan is within the budget: otherwise nothing is, as planners then take the cheapest trees.
absl::Status CheckBudget(const PlannerConfig& config, const std::optional<PlanPrice>& price) {
  if (!config.budget_per_round.has_value() || !price.has_value() || !price->a_round.has_value()) {
    return absl::OkStatus();
  }
  if (*price->a_round <= (1 + kBudgetRounding) * *config.budget_per_round) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("a round of this model costs at least %s, over the cheapest trees; the budget is %.6g: raise it",
                      RoundedUp(*price->a_round), *config.budget_per_round));
}

int PrintPlan(const PlanFlags& flags, const NetworkView& view, const PlannerConfig& config, std::ostream& out,
              std::ostream& err) {
  absl::StatusOr<Policy> policy = MakePolicy(view, config);
  if (!policy.ok()) return Fail(policy.status(), err);
  policy->bound_bps = std::min(policy->bound_bps, RateBoundBps(view));
  const absl::Duration least =
      LeastRoundTime(view, static_cast<double>(flags.model_bytes / kElementBytes), policy->bound_bps);
  const std::optional<PlanPrice> price = PriceOfPlan(*policy, view, config.tensors, flags.rounds);
  if (flags.budget.has_value() && !price.has_value()) return Fail(NoPrices(), err);
  if (const absl::Status status = CheckBudget(config, price); !status.ok()) return Fail(status, err);
  if (flags.is_of_training) {
    const TrainingQuestion question = {.view = view,
                                       .policy = *policy,
                                       .model = config.tensors,
                                       .least_elements = config.chunk_min_elements,
                                       .step = absl::Seconds(flags.step_seconds),
                                       .steps_per_sync = flags.steps_per_sync,
                                       .target = flags.utilisation,
                                       .round_price = price.has_value() ? price->a_round : std::nullopt};
    out << (flags.json ? TrainingJson(question) : TrainingText(question));
    return kExitSuccess;
  }
  out << (flags.json  ? PlanJson(*policy, view, least, price)
          : flags.dot ? PlanDot(*policy, view)
                      : PlanText(*policy, view, least, price));
  return kExitSuccess;
}

}  // namespace

int PlanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PlanFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.path.empty() && flags.measurements.empty()) {
    return line.UsageError("missing argument OVERLAY.yaml, or --from-measurements FILE", err);
  }
  if (!flags.path.empty() && !flags.measurements.empty()) {
    return line.UsageError("OVERLAY.yaml and --from-measurements exclude each other", err);
  }
  if (flags.yaml) return PrintOverlay(flags, out, err);
  absl::StatusOr<OverlayConfig> overlay = OverlayOf(flags);
  if (!overlay.ok()) return Fail(overlay.status(), err);
  if (const absl::Status status = ApplyFlags(flags, *overlay); !status.ok()) {
    return line.UsageError(status.message(), err);
  }
  const NetworkView view = MakeNetworkView(*overlay);
  if (flags.advise) return PrintAdvice(flags, view, out, err);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(*overlay, view);
  if (!config.ok()) return line.UsageError(config.status().message(), err);
  if (flags.model_bytes > 0) {
    const absl::StatusOr<std::vector<int64_t>> cut =
        CutModel(flags.model_bytes / kElementBytes, config->chunk_max_elements, kMaxChunksPerKey);
    if (!cut.ok()) return Fail(cut.status(), err);
    config->tensors.assign(cut->begin(), cut->end());
  }
  if (flags.frontier) return PrintFrontier(flags, view, *config, out, err);
  return PrintPlan(flags, view, *config, out, err);
}

}  // namespace banyan
