#include "sim/figures/figure.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "core/random.h"
#include "sim/overlays.h"
#include "sim/runs/adaptation.h"
#include "sim/runs/simulation.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_slots.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// --- reading a figure ---

constexpr int64_t kElementBytes = 4;
constexpr double kMostMinutes = 1e4;
constexpr int64_t kMostSeeds = 100;
constexpr int64_t kMostModelBytes = int64_t{1} << 42;
constexpr int64_t kMostCount = 1 << 24;
constexpr int kMostNodes = 1000;
constexpr uint64_t kQuickRounds = 2;

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const OverlayFamily& family : OverlayFamilies()) names.push_back(family.name);
  return names;
}

// What a case may be told, by the names that figures have for it.
std::vector<YamlKey> SettingsOf(FigureCase& c) {
  OverlayConfig& overlay = c.overlay;
  const NumberRange count = Count(0, kMostCount);
  const NumberRange some = Count(1, kMostCount);
  return {
      {"auxiliary_queue_length", Number(overlay.multipath.auxiliary_queue_length, count)},
      {"awareness", Bool(overlay.awareness.enabled)},
      {"chunk_elements", Number(overlay.chunks.max_elements, some)},
      {"compute_ms", Number(c.compute_ms, {.high = 1e9, .unit = NumberUnit::kMilliseconds})},
      {"estimator",
       Word(overlay.awareness.estimator, {NameOf(RateEstimator::kDelivery), NameOf(RateEstimator::kOneWayDelay)})},
      {"model_bytes", Number(c.model_bytes, Bytes(kElementBytes, kMostModelBytes))},
      {"multipath", Bool(overlay.multipath.enabled)},
      {"network", Word(c.network, FamilyNames())},
      {"nodes", Number(c.nodes, Count(2, kMostNodes))},
      {"planner", Word(overlay.topology.planner, PlannerNames())},
      {"primary_busy_bound", Number(overlay.multipath.primary_busy_bound, count)},
      {"probe_chunk_bytes", Number(overlay.awareness.probe_chunk_bytes, Bytes(1, kMostModelBytes))},
      {"probe_chunks", Number(overlay.awareness.probe_chunks, some)},
      {"redraw", Bool(c.redraw)},
      {"root", Name(overlay.topology.root)},
      {"roots", Number(overlay.topology.roots, Count(1, kMostNodes))},
      {"shares", Word(overlay.topology.shares, {"quality", "balanced"})},
      {"told", Word(c.told, {"rates", "none", "wrong", "nodes"})},
      {"update_seconds", Number(overlay.topology.update_interval, Seconds(0, 1e6))},
  };
}

// Reads one figure's file.
class FigureReader {
 public:
  FigureReader(const YamlValue& root, const std::string& path, YamlProblems& problems)
      : file_(root, "", problems), path_(path), problems_(problems) {}

  absl::StatusOr<Figure> Read() {
    Figure figure;
    ReadHead(figure);
    FigureCase base;
    if (const absl::Status loaded = LoadBase(base); !loaded.ok()) return loaded;
    variants_ = file_.Find("variants");
    if (const YamlValue* settings = file_.Find("base"); settings != nullptr) Apply(*settings, "base", base);
    ReadPoints(base, figure);
    file_.Finish();
    if (!problems_.status().ok()) return problems_.status();
    return figure;
  }

 private:
  void ReadHead(Figure& figure) {
    int64_t rounds = 0;
    int64_t seeds = 1;
    bool is_learning = false;
    ReadKeys(file_,
             {{"figure", Required(Text(figure.name))},
              {"title", Required(Text(figure.title))},
              {"minutes", Number(figure.minutes, Above(0, kMostMinutes))},
              {"rounds", Number(rounds, Count(1, kMostCount))},
              {"table", Word(is_learning, {"rates", "learning"})},
              {"seeds", Number(seeds, Count(1, kMostSeeds))}},
             problems_);
    figure.rounds = static_cast<uint64_t>(rounds);
    if (file_.Has("table")) figure.table = is_learning ? FigureTable::kLearning : FigureTable::kRates;
    figure.seeds.clear();
    for (int64_t seed = 1; seed <= seeds; ++seed) figure.seeds.push_back(static_cast<uint64_t>(seed));
  }

  absl::Status LoadBase(FigureCase& base) {
    std::string name;
    ReadKeys(file_, {{"overlay", Required(Text(name))}}, problems_);
    if (name.empty()) return problems_.status();
    absl::StatusOr<OverlayConfig> overlay = LoadOverlay((std::filesystem::path(path_).parent_path() / name).string());
    if (!overlay.ok()) return overlay.status();
    base.overlay = *std::move(overlay);
    return absl::OkStatus();
  }

  void Apply(const YamlValue& settings, const std::string& where, FigureCase& figure_case) {
    if (settings.kind != YamlValue::Kind::kMap) {
      problems_.Add(settings.place, absl::StrCat(where, ": expected a map of settings, got ", Describe(settings)));
      return;
    }
    for (const YamlEntry& entry : settings.entries) {
      if (entry.key != "name") ApplyOne(entry.key, *entry.value, absl::StrCat(where, ".", entry.key), figure_case);
    }
  }

  void ApplyOne(const std::string& key, const YamlValue& value, const std::string& where, FigureCase& figure_case) {
    if (key == "variant") return ApplyVariant(value, where, figure_case);
    std::vector<std::string> names;
    for (const YamlKey& setting : SettingsOf(figure_case)) {
      if (setting.name == key) return setting.slot.read({value, where, problems_});
      names.push_back(setting.name);
    }
    problems_.Add(value.place, absl::StrCat(where, ": no such setting; there are ", absl::StrJoin(names, ", ")));
  }

  void ApplyVariant(const YamlValue& value, const std::string& where, FigureCase& figure_case) {
    if (variants_ != nullptr && variants_->kind == YamlValue::Kind::kMap) {
      for (const YamlEntry& entry : variants_->entries) {
        if (entry.key == value.scalar) return Apply(*entry.value, absl::StrCat("variants.", entry.key), figure_case);
      }
    }
    problems_.Add(value.place, absl::StrCat(where, ": `variants` has no ", Describe(value)));
  }

  void ReadPoints(const FigureCase& base, Figure& figure) {
    const YamlValue* series = file_.Require("series");
    const YamlValue* sweep = file_.Require("sweep");
    const YamlValue* baseline = file_.Find("baseline");
    if (series == nullptr || sweep == nullptr) return;
    YamlMapReader sweep_map(*sweep, "sweep", problems_);
    const YamlValue* setting = sweep_map.Require("setting");
    const YamlValue* values = sweep_map.Require("values");
    sweep_map.Finish();
    if (setting == nullptr || values == nullptr) return;
    figure.sweep = setting->scalar;
    for (const YamlValue* one : series->items) {
      YamlMapReader map(*one, "series", problems_);
      const YamlValue* name = map.Require("name");
      if (name == nullptr) return;
      FigureCase of_series = base;
      Apply(*one, absl::StrCat("series ", name->scalar), of_series);
      for (const YamlValue* value : values->items) {
        Figure::Point point{name->scalar, value->scalar, of_series, std::nullopt};
        ApplyOne(figure.sweep, *value, "sweep.values", point.point);
        if (baseline != nullptr) {
          point.baseline = point.point;
          Apply(*baseline, "baseline", *point.baseline);
        }
        figure.points.push_back(std::move(point));
      }
    }
    if (figure.points.empty()) problems_.Add(series->place, "expected at least one series and one value of the sweep");
  }

  YamlMapReader file_;
  const std::string path_;
  YamlProblems& problems_;
  const YamlValue* variants_ = nullptr;
};

}  // namespace

absl::StatusOr<Figure> LoadFigure(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": expected the file of a figure; it cannot be read"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, path);
  if (!document.ok()) return document.status();
  YamlProblems problems(path);
  return FigureReader(document->root(), path, problems).Read();
}

Figure Quick(Figure figure) {
  const size_t all = figure.points.size();
  std::vector<Figure::Point> kept;
  for (size_t i = 0; i < all; ++i) {
    const bool first = i == 0 || figure.points[i - 1].series != figure.points[i].series;
    const bool last = i + 1 == all || figure.points[i + 1].series != figure.points[i].series;
    if (first || last) kept.push_back(std::move(figure.points[i]));
  }
  for (Figure::Point& point : kept) {
    point.point.model_bytes = std::max<int64_t>(kElementBytes, point.point.model_bytes / 40);
    if (point.baseline.has_value()) point.baseline->model_bytes = point.point.model_bytes;
  }
  figure.points = std::move(kept);
  figure.seeds.resize(1);
  figure.minutes = 0.01;
  figure.rounds = std::min(figure.rounds, kQuickRounds);
  return figure;
}

// --- simulating it ---

namespace {

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
  options.tensor_elements = {figure_case.model_bytes / kElementBytes};
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
