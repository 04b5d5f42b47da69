#include "sim/figures/figure_run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/random.h"
#include "sim/overlay_text.h"
#include "sim/runs/simulation.h"
#include "sim/sample_overlays.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/overlay_families.h"

namespace banyan {
namespace {

constexpr int64_t kElementBytes = 4;
constexpr uint64_t kFewestRounds = 2;
constexpr uint64_t kMostRounds = 60;
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

absl::Duration MeanOf(const SimulationReport& report) {
  absl::Duration sum;
  for (const SimulationReport::RoundReport& round : report.rounds) sum += round.synchronisation;
  return sum / static_cast<double>(report.rounds.size());
}

// Adds what one simulation has measured to `row`, as its part of `runs`.
absl::Status Measure(const Figure& figure, const FigureCase& figure_case, uint64_t seed, double runs, FigureRow& row) {
  SimulationOptions options;
  options.overlay = figure_case.overlay;
  if (figure_case.nodes > 0) DrawOverlay(figure_case.nodes, seed, options.overlay);
  if (!figure_case.network.empty()) {
    // Of a family that has fewer draws, the first again, with other losses.
    const OverlayFamily family = FamilyOf(OverlayFamilies(), figure_case.network);
    SetNetwork(family.draw(1 + ((seed - 1) % family.draws)), options.overlay);
  }
  if (options.overlay.topology.roots.value_or(0) > static_cast<int>(options.overlay.nodes.size())) {
    options.overlay.topology.roots.reset();
  }
  options.tensor_elements = {figure_case.model_bytes / kElementBytes};
  options.compute_time = absl::Milliseconds(figure_case.compute_ms);
  options.seed = seed;
  if (figure_case.redraw) options.link_redraw = LinkRedraw{kRedrawPeriod, kLowestBps, kHighestBps, 1, seed};
  const absl::StatusOr<uint64_t> rounds = figure.rounds > 0 ? figure.rounds : RoundsFor(options, figure.minutes);
  if (!rounds.ok()) return rounds.status();
  options.rounds = *rounds;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  if (!report.ok()) return report.status();
  if (!report->replicas_identical) return absl::InternalError("the replicas differ");
  const double seconds = figure_case.compute_ms / 1000 +
                         absl::ToDoubleSeconds(figure.shows_rates ? report->synchronisation_p50 : MeanOf(*report));
  row.seconds += seconds / runs;
  row.rate_bps += report->model_bits / seconds / runs;
  row.bound_bps += report->bound_bps / runs;
  row.policies += static_cast<double>(report->policies) / runs;
  row.auxiliary_share += report->auxiliary_share / runs;
  return absl::OkStatus();
}

using Measured = std::map<std::string, FigureRow>;

// Points share baselines, and those that differ in what has no effect share all.
std::string TextOf(FigureCase figure_case) {
  const TopologyConfig& topology = figure_case.overlay.topology;
  const bool takes_best_roots = topology.planner == "fapt" || topology.planner == "packed";
  if (takes_best_roots && topology.roots != 1) figure_case.overlay.topology.root.reset();
  return absl::StrCat(OverlayText(figure_case.overlay), figure_case.model_bytes, " ", figure_case.compute_ms, " ",
                      figure_case.redraw, " ", figure_case.nodes, " ", figure_case.network);
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
