// Simulates the points of a figure. Functions; thread-compatible.
#ifndef BANYAN_SIM_FIGURES_FIGURE_RUN_H_
#define BANYAN_SIM_FIGURES_FIGURE_RUN_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/figures/figure.h"

namespace banyan {

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

#endif  // BANYAN_SIM_FIGURES_FIGURE_RUN_H_
