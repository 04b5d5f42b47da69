// A figure of an evaluation: a file that names simulations, a value that goes through a list, curves that differ in
// other settings, and what they are compared with. How sim/scenarios/ repeats the evaluation of NETSTORM (section IX)
// and sim/planners/ compares planners. Values and functions; thread-compatible.
//
//   figure: "15"
//   title: More roots
//   overlay: ../../deploy/topologies/internet2.yaml   # from the place of this file
//   base: {multipath: true}                           # settings of all simulations
//   series: [{name: static}, {name: dynamic, redraw: true}]
//   sweep: {setting: roots, values: [1, 2, 3]}
//   baseline: {planner: star}                         # in place of the sweep's value; optional
//   rounds: 3                                         # of each simulation; else by `minutes`
//   table: rates                                      # a line for each value, a column for each series' rate in the
//                                                     # median round. `learning`: of jobs that are told little, how
//                                                     # soon they are as fast as who knows. Else the seconds of the
//                                                     # mean round, and how many times as fast as the baseline's
//
// Settings: planner, roots, root, shares, awareness, estimator, multipath, primary_busy_bound, auxiliary_queue_length,
// chunk_elements, probe_chunk_bytes, probe_chunks, update_seconds, model_bytes, compute_ms, redraw (all rates every 3
// minutes, 20..155 Mbit/s), nodes (a random overlay of so many), network (of topology/samples/sample_networks.h), told
// (rates, none, wrong, nodes: of the links; who is told the nodes has a path between every two, and knows no cap),
// variant (a name for several settings at once, see `variants`).
#ifndef BANYAN_SIM_FIGURES_FIGURE_H_
#define BANYAN_SIM_FIGURES_FIGURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/overlay/told_links.h"

namespace banyan {

// One simulation.
struct FigureCase {
  OverlayConfig overlay;
  int64_t model_bytes = 244 * 1000 * 1000;  // AlexNet
  double compute_ms = 0;
  bool redraw = false;
  int nodes = 0;        // of a random overlay in place of the file's; 0: the file's
  std::string network;  // a family of overlays in place of the file's; empty: the file's
  ToldLinks::Kind told = ToldLinks::Kind::kRates;
};

// What a figure's table says of each simulation.
enum class FigureTable : uint8_t {
  kTimes,     // the mean round, beside the baseline's
  kRates,     // of the median round, beside the bound
  kLearning,  // how soon the job is as fast as one that is told all
};

struct Figure {
  struct Point {
    std::string series;
    std::string value;
    FigureCase point;
    std::optional<FigureCase> baseline;
  };

  std::string name;  // "15"
  std::string title;
  std::string sweep;  // what changes along the axis
  FigureTable table = FigureTable::kTimes;
  double minutes = 15;                // simulated, about
  uint64_t rounds = 0;                // simulated; 0: by `minutes`
  std::vector<uint64_t> seeds = {1};  // results are means over these: losses, and draws of a family
  std::vector<Point> points;          // by series, then in order of the sweep
};

// INVALID_ARGUMENT reads `file:line: ...`; NOT_FOUND when a file is missing.
absl::StatusOr<Figure> LoadFigure(const std::string& path);

// Keeps the ends of the sweep, models of a fortieth, one seed and little time: for a look whether everything works.
Figure Quick(Figure figure);

// What a point of a figure has come to.
struct FigureRow {
  std::string series;
  std::string value;
  double seconds = 0;  // time of the mean round, of the median one where the figure shows rates; computing included
  double rate_bps = 0;
  double bound_bps = 0;  // what no scheme can beat on the links as they are at first (RateBoundBps)
  double relative = 0;   // the baseline's time over this one's; 0 without a baseline
  double policies = 0;
  double auxiliary_share = 0;
  // Of FigureTable::kLearning: over the seeds the latest start of rounds that take about as long as those of who is
  // told all (FirstNear), infinite where one has none; means of the ratios of Adaptation.
  double near_after_seconds = 0;
  double later_ratio = 0;
  double first_ratio = 0;
};

// One row for each point. `progress` is told how many points are done, after each.
absl::StatusOr<std::vector<FigureRow>> RunFigure(const Figure& figure, const std::function<void(size_t)>& progress);

}  // namespace banyan

#endif  // BANYAN_SIM_FIGURES_FIGURE_H_
