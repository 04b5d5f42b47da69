#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "sim/figures/figure.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/reports/gnuplot_run.h"
#include "tools/reports/progress_bar.h"
#include "tools/reports/sim_reports.h"

namespace banyan {
namespace {

struct FiguresFlags {
  std::string out_dir;
  std::string scenarios = "sim/scenarios";
  std::string only;  // the beginning of a figure's name; empty for all
  bool quick = false;
};

CommandLine MakeCommandLine(FiguresFlags& flags) {
  CommandLine line("banyan sim-figures",
                   "Simulates the figures of NETSTORM's evaluation and writes each as a table (CSV, Markdown) and,\n"
                   "where gnuplot is installed (Debian: gnuplot-nox), as a plot (PNG).",
                   "banyan sim-figures /tmp/figures --only 14");
  line.Positional("OUT_DIR", "where the files go; made when missing", &flags.out_dir);
  line.Text("scenarios", "DIR",
            "the figures' files (default sim/scenarios; sim/planners compares planners, sim/learning jobs that are "
            "told little)",
            &flags.scenarios);
  line.Text("only", "N", "figures whose name begins so: 14, 19b", &flags.only);
  line.Switch("quick", "small models, few values: a look whether all works", &flags.quick);
  return line;
}

absl::StatusOr<std::vector<Figure>> LoadFigures(const FiguresFlags& flags) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(flags.scenarios, error)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  if (error)
    return absl::NotFoundError(absl::StrCat("--scenarios: ", flags.scenarios, ": ", error.message(),
                                            "; the figures' files are in the repository, not installed"));
  std::sort(paths.begin(), paths.end());
  std::vector<Figure> figures;
  for (const std::string& path : paths) {
    absl::StatusOr<Figure> figure = LoadFigure(path);
    if (!figure.ok()) return figure.status();
    if (!absl::StartsWith(figure->name, flags.only)) continue;
    figures.push_back(flags.quick ? Quick(*std::move(figure)) : *std::move(figure));
  }
  if (figures.empty()) {
    return absl::NotFoundError(
        absl::StrCat(flags.scenarios, " has no figure whose name begins with '", flags.only, "'"));
  }
  return figures;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

class FiguresRun {
 public:
  FiguresRun(const FiguresFlags& flags, std::vector<Figure> figures, std::ostream& out, std::ostream& err)
      : directory_(flags.out_dir),
        figures_(std::move(figures)),
        out_(out),
        bar_("simulating", isatty(STDERR_FILENO) != 0, err) {
    for (const Figure& figure : figures_) points_ += figure.points.size();
  }

  absl::Status Run() {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) return absl::UnavailableError(absl::StrCat(directory_, ": ", error.message()));
    std::string markdown;
    for (const Figure& figure : figures_) {
      const absl::StatusOr<std::vector<FigureRow>> rows =
          RunFigure(figure, [this](size_t done) { ShowProgress(points_done_ + done); });
      if (!rows.ok())
        return absl::Status(rows.status().code(), absl::StrCat("figure ", figure.name, ": ", rows.status().message()));
      points_done_ += rows->size();
      absl::StrAppend(&markdown, FigureMarkdown(figure, *rows));
      if (const absl::Status status = Write(figure, *rows); !status.ok()) return status;
    }
    out_ << markdown;
    if (!why_no_plots_.empty()) out_ << "No plots: " << why_no_plots_ << ".\n";
    return WriteFile(absl::StrCat(directory_, "/figures.md"), markdown);
  }

 private:
  absl::Status Write(const Figure& figure, const std::vector<FigureRow>& rows) {
    const std::string stem = absl::StrCat(directory_, "/fig", figure.name);
    if (const absl::Status status = WriteFile(stem + ".csv", FigureCsv(figure, rows)); !status.ok()) return status;
    const std::string script = FigureGnuplot(figure, rows, stem + ".png");
    if (const absl::Status status = WriteFile(stem + ".gnuplot", script); !status.ok()) return status;
    const absl::Status status = RunGnuplot(script);
    if (!absl::IsNotFound(status)) return status;
    why_no_plots_ = std::string(status.message());
    return absl::OkStatus();
  }

  void ShowProgress(size_t done) {
    const auto spent = std::chrono::steady_clock::now() - start_;
    bar_.Update(static_cast<double>(done) / static_cast<double>(points_), absl::FromChrono(spent));
  }

  const std::string directory_;
  const std::vector<Figure> figures_;
  std::ostream& out_;
  ProgressBar bar_;
  std::string why_no_plots_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t points_ = 0;
  size_t points_done_ = 0;
};

}  // namespace

int SimFiguresCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  FiguresFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  absl::StatusOr<std::vector<Figure>> figures = LoadFigures(flags);
  const absl::Status status = figures.ok() ? FiguresRun(flags, *std::move(figures), out, err).Run() : figures.status();
  return status.ok() ? kExitSuccess : line.Failure(status, err);
}

}  // namespace banyan
