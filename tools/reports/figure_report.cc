#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/result_table.h"
#include "core/units.h"
#include "tools/reports/gnuplot_run.h"
#include "tools/reports/sim_reports.h"

namespace banyan {
namespace {

bool HasBaseline(const std::vector<FigureRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const FigureRow& row) { return row.relative > 0; });
}

std::vector<std::string> Distinct(const std::vector<FigureRow>& rows, std::string FigureRow::*field) {
  std::vector<std::string> names;
  for (const FigureRow& row : rows) {
    if (std::find(names.begin(), names.end(), row.*field) == names.end()) names.push_back(row.*field);
  }
  return names;
}

std::string Relative(const FigureRow& row) {
  return row.relative > 0 ? absl::StrFormat("%.2f", row.relative) : std::string();
}

// What a table says of a point: rates; "12.3; 1.02; 1.40", after so many seconds rounds are near those of who knows,
// later ones, the first ones; seconds of a round, and how many times as fast as the baseline that is.
ResultTable::Cell PointCell(const Figure& figure, const FigureRow& row) {
  switch (figure.table) {
    case FigureTable::kTimes:
      if (row.relative > 0) return {absl::StrFormat("%.1f (%.2f)", row.seconds, row.relative)};
      return ResultTable::Cell::Number(row.seconds, 1);
    case FigureTable::kRates:
      return ResultTable::Cell::Number(row.rate_bps / kBitsPerMegabit, 1);
    case FigureTable::kLearning: {
      const std::string near =
          std::isfinite(row.near_after_seconds) ? absl::StrFormat("%.1f", row.near_after_seconds) : "never";
      return {absl::StrFormat("%s; %.2f; %.2f", near, row.later_ratio, row.first_ratio)};
    }
  }
  return {};
}

// A line for each value of the sweep and a column for each series; of rates the best one's part of the bound too.
ResultTable MakeTable(const Figure& figure, const std::vector<FigureRow>& rows) {
  const bool has_bound = figure.table == FigureTable::kRates;
  ResultTable table;
  table.title = absl::StrCat("### Fig. ", figure.name, ": ", figure.title);
  table.columns = {{figure.sweep}};
  for (const std::string& series : Distinct(rows, &FigureRow::series)) table.columns.push_back({series});
  if (has_bound) table.columns.insert(table.columns.end(), {{"bound"}, {"best / bound"}});
  for (const std::string& value : Distinct(rows, &FigureRow::value)) {
    std::vector<ResultTable::Cell>& cells = table.rows.emplace_back();
    cells = {ResultTable::Cell::Text(value)};
    double best_bps = 0;
    double bound_bps = 0;
    for (const FigureRow& row : rows) {
      if (row.value != value) continue;
      cells.push_back(PointCell(figure, row));
      best_bps = std::max(best_bps, row.rate_bps);
      bound_bps = row.bound_bps;
    }
    if (!has_bound) continue;
    cells.push_back(ResultTable::Cell::Number(bound_bps / kBitsPerMegabit, 1));
    cells.push_back(ResultTable::Cell::Number(best_bps / bound_bps, 2));
  }
  return table;
}

// Of a bar.
double Height(const FigureRow& row, const Figure& figure, bool relative) {
  if (relative) return row.relative;
  if (figure.table == FigureTable::kLearning) return row.later_ratio;
  return figure.table == FigureTable::kRates ? row.rate_bps / kBitsPerMegabit : row.seconds;
}

}  // namespace

std::string FigureCsv(const Figure& figure, const std::vector<FigureRow>& rows) {
  std::string text = absl::StrCat("figure,series,", figure.sweep,
                                  ",round_seconds,rate_mbps,bound_mbps,speed_up,policies,auxiliary_share,",
                                  "near_after_seconds,later_ratio,first_ratio\n");
  for (const FigureRow& row : rows) {
    absl::StrAppendFormat(&text, "%s,%s,%s,%.3f,%.2f,%.2f,%s,%.1f,%.3f,%.1f,%.3f,%.3f\n", figure.name, row.series,
                          row.value, row.seconds, row.rate_bps / kBitsPerMegabit, row.bound_bps / kBitsPerMegabit,
                          Relative(row), row.policies, row.auxiliary_share, row.near_after_seconds, row.later_ratio,
                          row.first_ratio);
  }
  return text;
}

std::string FigureMarkdown(const Figure& figure, const std::vector<FigureRow>& rows) {
  return MakeTable(figure, rows).AsText() + "\n";
}

std::string FigureGnuplot(const Figure& figure, const std::vector<FigureRow>& rows, const std::string& png_path) {
  const bool relative = HasBaseline(rows);
  const std::vector<std::string> series = Distinct(rows, &FigureRow::series);
  const char* shown = relative                                 ? "speed-up"
                      : figure.table == FigureTable::kRates    ? "Mbit/s"
                      : figure.table == FigureTable::kLearning ? "later rounds over those with known rates"
                                                               : "seconds per round";
  std::string text = absl::StrCat("set terminal png size 800,480\nset output ", GnuplotQuoted(png_path), "\nset title ",
                                  GnuplotQuoted(absl::StrCat("Fig. ", figure.name, ": ", figure.title)),
                                  " noenhanced\nset xlabel ", GnuplotQuoted(figure.sweep), " noenhanced\nset ylabel '",
                                  shown, "'\nset yrange [0:*]\nset style data histograms\nset style fill solid 0.7\n",
                                  "set key outside top right noenhanced\n$data << END\n");
  for (const std::string& value : Distinct(rows, &FigureRow::value)) {
    absl::StrAppend(&text, "\"", value, "\"");
    for (const std::string& name : series) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const FigureRow& candidate) {
        return candidate.series == name && candidate.value == value;
      });
      absl::StrAppendFormat(&text, " %.4f", row == rows.end() ? 0 : Height(*row, figure, relative));
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "END\nplot ");
  for (size_t i = 0; i < series.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "$data using ", i + 2, ":xtic(1) title ", GnuplotQuoted(series[i]));
  }
  return text + "\n";
}

}  // namespace banyan
