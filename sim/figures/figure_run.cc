#include "sim/figures/figure_run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/random.h"
#include "sim/overlay_text.h"
#include "sim/routed_overlay.h"
#include "sim/runs/adaptation.h"
#include "sim/runs/simulation.h"
#include "sim/sample_overlays.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/overlay_families.h"

namespace banyan {
namespace {

constexpr int64_t kFloatBytes = 4;
constexpr uint64_t kFewestRounds = 2;
constexpr uint64_t kMostRounds = 60;
constexpr uint64_t kInformedRounds = 5;
// NETSTORM, section IX.
constexpr absl::Duration kRedrawPeriod = absl::Minutes(3);
constexpr double kLowestBps = 20e6;
constexpr double kHighestBps = 155e6;
constexpr absl::Duration kDelay = absl::Milliseconds(15);
constexpr double kLinksPerNode = 13.0 / 9.0;  // as in its overlay

// Connected at random, with as many links for a node as the overlay of the evaluation.
void DrawOverlay(int nodes, uint64_t seed, OverlayConfig& overlay) {
  OverlayShape shape;
  shape.nodes = nodes;
  shape.links = std::max(nodes - 1, static_cast<int>(std::lround(kLinksPerNode * nodes)));
  shape.least_bps = kLowestBps;
  shape.most_bps = kHighestBps;
  shape.least_delay = shape.most_delay = kDelay;
  Random random(seed);
  OverlayConfig drawn = RandomOverlay(shape, &random);
  overlay.nodes = std::move(drawn.nodes);
  overlay.links = std::move(drawn.links);
}

const OverlayFamily& FamilyOf(const std::vector<OverlayFamily>& families, const std::string& name) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&name](const OverlayFamily& family) { return family.name == name; });
  BANYAN_CHECK(found != families.end());
  return *found;
}

void SetNetwork(const NetworkView& view, OverlayConfig& overlay) {
  OverlayConfig network = OverlayOf(view);
  overlay.nodes = std::move(network.nodes);
  overlay.links = std::move(network.links);
}

absl::StatusOr<uint64_t> RoundsFor(const SimulationOptions& options, double minutes) {
  const NetworkView view = MakeNetworkView(options.overlay);
  const absl::StatusOr<PlannerConfig> config = MakePlannerConfig(options.overlay, view);
  if (!config.ok()) return config.status();
  const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  if (!policy.ok()) return policy.status();
  const double round_s = 32.0 * static_cast<double>(options.tensor_elements[0]) / policy->rate_bps +
                         absl::ToDoubleSeconds(options.compute_time);
  return std::clamp(static_cast<uint64_t>(60 * minutes / round_s), kFewestRounds, kMostRounds);
}

double MeanOf(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

// The job of a case that is told all rates.
absl::StatusOr<SimulationOptions> MakeOptions(const Figure& figure, const FigureCase& figure_case, uint64_t seed) {
  SimulationOptions options;
  options.overlay = figure_case.overlay;
  if (figure_case.nodes > 0) DrawOverlay(figure_case.nodes, seed, options.overlay);
  if (!figure_case.network.empty()) {
    // Of a network that is not drawn at random the same again, with other losses.
    const OverlayFamily family = FamilyOf(OverlayFamilies(), figure_case.network);
    SetNetwork(family.draw(family.draws == 1 ? 1 : seed), options.overlay);
  }
  if (options.overlay.topology.roots.value_or(0) > static_cast<int>(options.overlay.nodes.size())) {
    options.overlay.topology.roots.reset();
  }
  options.tensor_elements = {figure_case.model_bytes / kFloatBytes};
  options.compute_time = absl::Milliseconds(figure_case.compute_ms);
  options.seed = seed;
  if (figure_case.redraw) options.link_redraw = LinkRedraw{kRedrawPeriod, kLowestBps, kHighestBps, 1, seed};
  const absl::StatusOr<uint64_t> rounds = figure.rounds > 0 ? figure.rounds : RoundsFor(options, figure.minutes);
  if (!rounds.ok()) return rounds.status();
  options.rounds = *rounds;
  return options;
}

// Makes the job know no more than `told`. Who knows the nodes alone has a path between every two of them.
void Tell(ToldLinks::Kind told, SimulationOptions& options) {
  options.told = {told, options.seed};
  if (told != ToldLinks::Kind::kNodes) return;
  options.hides_caps = true;
  const NetworkView view = MakeNetworkView(options.overlay);
  if (IsFullMesh(view)) return;
  OverlayConfig routed = RoutedOverlay(view);
  options.overlay.links = std::move(routed.links);
  options.overlay.shared = std::move(routed.shared);
}

absl::StatusOr<SimulationReport> SimulateAlike(const SimulationOptions& options) {
  absl::StatusOr<SimulationReport> report = Simulate(options);
  if (report.ok() && !report->replicas_identical) return absl::InternalError("the replicas differ");
  return report;
}

// Adds to `row`, as its part of `runs`, how the rounds of `report` compare with those of who is told all.
absl::Status MeasureLearning(SimulationOptions informed_options, const SimulationReport& report, double runs,
                             FigureRow& row) {
  informed_options.rounds = std::min(informed_options.rounds, kInformedRounds);
  const absl::StatusOr<SimulationReport> informed = SimulateAlike(informed_options);
  if (!informed.ok()) return informed.status();
  const Adaptation adaptation =
      AdaptationOf(RoundSeconds(report), absl::ToDoubleSeconds(informed->synchronisation_p50));
  row.near_after_seconds =
      std::max(row.near_after_seconds, adaptation.near_from.has_value() ? adaptation.near_after_seconds
                                                                        : std::numeric_limits<double>::infinity());
  row.later_ratio += adaptation.later_ratio / runs;
  row.first_ratio += adaptation.first_ratio / runs;
  return absl::OkStatus();
}

// Adds what one simulation has measured to `row`, as its part of `runs`.
absl::Status Measure(const Figure& figure, const FigureCase& figure_case, uint64_t seed, double runs, FigureRow& row) {
  const absl::StatusOr<SimulationOptions> informed = MakeOptions(figure, figure_case, seed);
  if (!informed.ok()) return informed.status();
  SimulationOptions options = *informed;
  Tell(figure_case.told, options);
  const absl::StatusOr<SimulationReport> report = SimulateAlike(options);
  if (!report.ok()) return report.status();
  const bool is_median = figure.table == FigureTable::kRates;
  const double seconds = figure_case.compute_ms / 1000 + (is_median ? absl::ToDoubleSeconds(report->synchronisation_p50)
                                                                    : MeanOf(RoundSeconds(*report)));
  row.seconds += seconds / runs;
  row.rate_bps += report->model_bits / seconds / runs;
  row.bound_bps += report->bound_bps / runs;
  row.policies += static_cast<double>(report->policies) / runs;
  row.auxiliary_share += report->auxiliary_share / runs;
  return figure.table == FigureTable::kLearning ? MeasureLearning(*informed, *report, runs, row) : absl::OkStatus();
}

using Measured = std::map<std::string, FigureRow>;

// Points share baselines, and those that differ in what has no effect share all.
std::string TextOf(FigureCase figure_case) {
  const TopologyConfig& topology = figure_case.overlay.topology;
  const bool takes_best_roots = topology.planner == "fapt" || topology.planner == "packed";
  if (takes_best_roots && topology.roots != 1) figure_case.overlay.topology.root.reset();
  return absl::StrCat(WriteOverlay(figure_case.overlay), figure_case.model_bytes, " ", figure_case.compute_ms, " ",
                      figure_case.redraw, " ", figure_case.nodes, " ", figure_case.network, " ",
                      static_cast<int>(figure_case.told));
}

absl::StatusOr<FigureRow> MeasureAll(const Figure& figure, const FigureCase& figure_case, Measured& measured) {
  const auto [known, is_new] = measured.try_emplace(TextOf(figure_case));
  FigureRow& row = known->second;
  if (!is_new) return row;
  for (const uint64_t seed : figure.seeds) {
    const absl::Status status = Measure(figure, figure_case, seed, static_cast<double>(figure.seeds.size()), row);
    if (!status.ok()) return status;
  }
  return row;
}

}  // namespace

absl::StatusOr<std::vector<FigureRow>> RunFigure(const Figure& figure, const std::function<void(size_t)>& progress) {
  std::vector<FigureRow> rows;
  Measured measured;
  for (const Figure::Point& point : figure.points) {
    absl::StatusOr<FigureRow> row = MeasureAll(figure, point.point, measured);
    if (!row.ok()) return row.status();
    row->series = point.series;
    row->value = point.value;
    if (point.baseline.has_value()) {
      const absl::StatusOr<FigureRow> baseline = MeasureAll(figure, *point.baseline, measured);
      if (!baseline.ok()) return baseline.status();
      row->relative = baseline->seconds / row->seconds;
    }
    rows.push_back(*std::move(row));
    progress(rows.size());
  }
  return rows;
}

}  // namespace banyan
