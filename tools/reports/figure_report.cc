#include "tools/reports/figure_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/units.h"

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

// The line of column names, and the one that puts numbers to the right.
std::string Heading(const Figure& figure, const std::vector<std::string>& columns) {
  std::string text = absl::StrCat("| ", figure.sweep, " | ", absl::StrJoin(columns, " | "), " |\n|---|");
  for (size_t i = 0; i < columns.size(); ++i) absl::StrAppend(&text, "---:|");
  return text + "\n";
}

// A line for each value of the sweep with the seconds of a round, and how many times as fast as the baseline that is.
std::string TimesMarkdown(const Figure& figure, const std::vector<FigureRow>& rows) {
  std::string text = Heading(figure, Distinct(rows, &FigureRow::series));
  for (const std::string& value : Distinct(rows, &FigureRow::value)) {
    absl::StrAppend(&text, "| ", value, " |");
    for (const FigureRow& row : rows) {
      if (row.value != value) continue;
      absl::StrAppendFormat(&text, " %.1f", row.seconds);
      if (row.relative > 0) absl::StrAppendFormat(&text, " (%.2f)", row.relative);
      absl::StrAppend(&text, " |");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// A line for each value of the sweep, and the best series' part of the bound.
std::string RatesMarkdown(const Figure& figure, const std::vector<FigureRow>& rows) {
  std::vector<std::string> columns = Distinct(rows, &FigureRow::series);
  columns.insert(columns.end(), {"bound", "best / bound"});
  std::string text = Heading(figure, columns);
  for (const std::string& value : Distinct(rows, &FigureRow::value)) {
    absl::StrAppend(&text, "| ", value, " |");
    double best_bps = 0;
    double bound_bps = 0;
    for (const FigureRow& row : rows) {
      if (row.value != value) continue;
      absl::StrAppendFormat(&text, " %.1f |", row.rate_bps / kBitsPerMegabit);
      best_bps = std::max(best_bps, row.rate_bps);
      bound_bps = row.bound_bps;
    }
    absl::StrAppendFormat(&text, " %.1f | %.2f |\n", bound_bps / kBitsPerMegabit, best_bps / bound_bps);
  }
  return text;
}

// "12.3; 1.02; 1.40": after so many seconds rounds are near those of who knows, later ones, the first ones.
std::string LearningMarkdown(const Figure& figure, const std::vector<FigureRow>& rows) {
  std::string text = Heading(figure, Distinct(rows, &FigureRow::series));
  for (const std::string& value : Distinct(rows, &FigureRow::value)) {
    absl::StrAppend(&text, "| ", value, " |");
    for (const FigureRow& row : rows) {
      if (row.value != value) continue;
      absl::StrAppend(&text, std::isfinite(row.near_after_seconds) ? absl::StrFormat(" %.1f", row.near_after_seconds)
                                                                   : std::string(" never"));
      absl::StrAppendFormat(&text, "; %.2f; %.2f |", row.later_ratio, row.first_ratio);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string TableMarkdown(const Figure& figure, const std::vector<FigureRow>& rows) {
  switch (figure.table) {
    case FigureTable::kTimes:
      return TimesMarkdown(figure, rows);
    case FigureTable::kRates:
      return RatesMarkdown(figure, rows);
    case FigureTable::kLearning:
      return LearningMarkdown(figure, rows);
  }
  return "";
}

// For gnuplot.
std::string Quoted(const std::string& text) { return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'"); }

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
  const std::string title = absl::StrCat("### Fig. ", figure.name, ": ", figure.title, "\n\n");
  return absl::StrCat(title, TableMarkdown(figure, rows), "\n");
}

std::string FigureGnuplot(const Figure& figure, const std::vector<FigureRow>& rows, const std::string& png_path) {
  const bool relative = HasBaseline(rows);
  const std::vector<std::string> series = Distinct(rows, &FigureRow::series);
  const char* shown = relative                                 ? "speed-up"
                      : figure.table == FigureTable::kRates    ? "Mbit/s"
                      : figure.table == FigureTable::kLearning ? "later rounds over those of who knows"
                                                               : "seconds per round";
  std::string text = absl::StrCat("set terminal png size 800,480\nset output ", Quoted(png_path), "\nset title ",
                                  Quoted(absl::StrCat("Fig. ", figure.name, ": ", figure.title)),
                                  " noenhanced\nset xlabel ", Quoted(figure.sweep), " noenhanced\nset ylabel '", shown,
                                  "'\nset yrange [0:*]\nset style data histograms\nset style fill solid 0.7\n",
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
    absl::StrAppend(&text, i == 0 ? "" : ", ", "$data using ", i + 2, ":xtic(1) title ", Quoted(series[i]));
  }
  return text + "\n";
}

}  // namespace banyan
