// What `banyan sim` prints, and `banyan sim-figures` for a figure: a table as CSV and Markdown, and the commands that
// make gnuplot draw it. Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_SIM_REPORTS_H_
#define BANYAN_TOOLS_REPORTS_SIM_REPORTS_H_

#include <string>
#include <vector>

#include "sim/figures/figure.h"
#include "sim/runs/simulation.h"
#include "topology/network_view.h"

namespace banyan {

// Writes a report for a reader.
std::string SimText(const SimulationReport& report, const NetworkView& view);
// Writes a report for scripts: keys may be added, and those that exist stay.
std::string SimJson(const SimulationReport& report, const NetworkView& view);

// Returns a line of column names, and one for each row with all that was measured.
std::string FigureCsv(const Figure& figure, const std::vector<FigureRow>& rows);
// Returns a line for each value of the sweep and a column for each series: seconds of a round, with the speed-up over
// the baseline behind them where there is one; rates where the figure's table is of these.
std::string FigureMarkdown(const Figure& figure, const std::vector<FigureRow>& rows);
// Bars of the rate relative to the baseline, or of the rounds' seconds without one (of the rates where the table is of
// these); a group for each value of the sweep.
std::string FigureGnuplot(const Figure& figure, const std::vector<FigureRow>& rows, const std::string& png_path);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_SIM_REPORTS_H_
