#include "tools/reports/gnuplot_run.h"

#include <unistd.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "posix/work_directory.h"

namespace banyan {
namespace {

constexpr char kGnuplot[] = "/usr/bin/gnuplot";
constexpr absl::Duration kPlottingTime = absl::Seconds(60);
constexpr int kShownLogLines = 5;

}  // namespace

absl::Status RunGnuplot(const std::string& script) {
  if (access(kGnuplot, X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(kGnuplot, " is missing (Debian: gnuplot-nox)"));
  }
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-plot");
  if (!directory.ok()) return directory.status();
  if (absl::Status status = (*directory)->Write("script", script); !status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<ChildProcess>> gnuplot =
      ChildProcess::Start({.name = "gnuplot",
                           .arguments = {kGnuplot, (*directory)->File("script")},
                           .log_path = (*directory)->File("log")});
  if (!gnuplot.ok()) return gnuplot.status();
  const bool ended = (*gnuplot)->WaitUntilEnded(kPlottingTime);
  if (ended && (*gnuplot)->failure().empty()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("gnuplot: ", ended ? (*gnuplot)->failure() : "no end", "\n", (*gnuplot)->LogTail(kShownLogLines)));
}

std::string GnuplotQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

}  // namespace banyan
