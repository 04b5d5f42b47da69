#include "tools/doctor/clock_check.h"

#include <unistd.h>

#include <cmath>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/printable.h"
#include "posix/child_process.h"
#include "posix/work_directory.h"

namespace banyan {
namespace {

// chronyc itself gives up after some seconds when nobody answers.
constexpr absl::Duration kPatience = absl::Seconds(15);
constexpr size_t kFields = 14;
constexpr size_t kMostShown = 200;

constexpr char kInstall[] =
    "to compare the times in the logs of several sites, install chrony (apt-get install chrony), put "
    "deploy/chrony/node.conf with the scheduler's address into "
    "/etc/chrony/conf.d/ (on the scheduler's machine: deploy/chrony/scheduler.conf), then: systemctl restart chrony";
constexpr char kStart[] = "start it: systemctl enable --now chrony; its log: journalctl -u chrony";
constexpr char kWait[] =
    "wait some seconds after a start (chronyc waitsync 30), look whether `chronyc sources` shows the scheduler's "
    "machine "
    "(deploy/chrony/node.conf), whether that one allows this one (deploy/chrony/scheduler.conf), and whether the "
    "firewalls let UDP port 123 through";

// What a program has said, and whether it ended well.
struct Answer {
  bool ok = false;
  std::string text;
};

absl::StatusOr<Answer> AskChrony(const std::string& chronyc) {
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-doctor");
  if (!directory.ok()) return directory.status();
  ChildProcessOptions options;
  options.name = "chronyc";
  options.arguments = {chronyc, "-c", "tracking"};
  options.log_path = (*directory)->File("log");
  options.capture_output = true;
  const absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
  if (!child.ok()) return child.status();
  // What it says fits into the pipe.
  if (!(*child)->WaitUntilEnded(kPatience)) {
    return absl::DeadlineExceededError(absl::StrCat("no end within ", absl::FormatDuration(kPatience)));
  }
  Answer answer;
  answer.ok = (*child)->failure().empty();
  answer.text = absl::StrJoin((*child)->TakeLines(), "\n");
  if (answer.text.empty()) answer.text = (*child)->LogTail(1);
  return answer;
}

std::string Shown(const std::string& text) { return EscapeUnprintable(text.substr(0, kMostShown)); }

std::string Milliseconds(absl::Duration duration) {
  return absl::StrFormat("%.3f ms", absl::ToDoubleMilliseconds(duration));
}

CheckResult Check(const char* name, bool ok, const std::string& found, const std::string& fix) {
  return {name, ok, ok ? found : absl::StrCat(found, "; ", fix)};
}

CheckResults CheckTracking(const ClockTracking& tracking, absl::Duration max_offset) {
  CheckResults results;
  const bool is_synchronised = tracking.stratum > 0 && tracking.leap != "Not synchronised";
  results.push_back(
      Check("synchronised", is_synchronised,
            is_synchronised
                ? absl::StrCat("follows ", tracking.reference.empty() ? "this machine's own clock" : tracking.reference,
                               " at stratum ", tracking.stratum, ", leap status ", tracking.leap)
                : "the clock follows nobody yet",
            kWait));
  if (!is_synchronised) return results;
  const std::string bound = absl::StrCat("expected ", Milliseconds(max_offset), " at most");
  results.push_back(Check(
      "offset", tracking.offset <= max_offset, absl::StrCat("the clock is off by ", Milliseconds(tracking.offset)),
      absl::StrCat(bound,
                   ": wait while chrony corrects it (chronyc waitsync 30 0.001), or correct it at once: "
                   "chronyc makestep")));
  results.push_back(Check(
      "dispersion", tracking.root_dispersion <= max_offset,
      absl::StrCat("which chrony knows to ", Milliseconds(tracking.root_dispersion), ", plus at most half of the ",
                   Milliseconds(tracking.root_delay), " to the reference and back"),
      absl::StrCat(bound, ": it grows while the reference does not answer; see `chronyc sources`, and ", kWait)));
  return results;
}

}  // namespace

absl::StatusOr<ClockTracking> ParseTracking(absl::string_view line) {
  const std::vector<std::string> fields = absl::StrSplit(line, ',');
  const auto refuse = [&line] {
    return absl::InvalidArgumentError(absl::StrCat("expected the ", kFields, " fields of `chronyc -c tracking`, got '",
                                                   Shown(std::string(line)), "'"));
  };
  if (fields.size() != kFields) return refuse();
  ClockTracking tracking;
  double offset = 0, root_delay = 0, root_dispersion = 0;
  if (!absl::SimpleAtoi(fields[2], &tracking.stratum) || !absl::SimpleAtod(fields[4], &offset) ||
      !absl::SimpleAtod(fields[10], &root_delay) || !absl::SimpleAtod(fields[11], &root_dispersion) ||
      std::isnan(offset) || std::isnan(root_delay) || std::isnan(root_dispersion)) {
    return refuse();
  }
  tracking.reference = EscapeUnprintable(fields[1]);
  tracking.offset = absl::Seconds(std::abs(offset));
  tracking.root_delay = absl::Seconds(root_delay);
  tracking.root_dispersion = absl::Seconds(root_dispersion);
  tracking.leap = EscapeUnprintable(fields[13]);
  return tracking;
}

CheckResults CheckClock(const std::string& chronyc, absl::Duration max_offset) {
  const bool exists = access(chronyc.c_str(), X_OK) == 0;
  // Without it all runs as well.
  if (!exists) return {{"chrony", true, absl::StrCat("there is no ", chronyc, ", and Banyan needs none; ", kInstall)}};
  CheckResults results = {{"chrony", true, absl::StrCat("found ", chronyc)}};
  const absl::StatusOr<Answer> answer = AskChrony(chronyc);
  const bool is_running = answer.ok() && answer->ok;
  results.push_back(Check("daemon", is_running,
                          is_running ? "chronyd runs"
                                     : absl::StrCat("chronyd does not answer: ",
                                                    Shown(answer.ok() ? answer->text : answer.status().ToString())),
                          kStart));
  if (!is_running) return results;
  const absl::StatusOr<ClockTracking> tracking = ParseTracking(answer->text);
  if (!tracking.ok()) {
    results.push_back(Check("tracking", false, std::string(tracking.status().message()),
                            absl::StrCat("is ", chronyc, " that of chrony 2.x to 4.x?")));
    return results;
  }
  for (CheckResult& result : CheckTracking(*tracking, max_offset)) results.push_back(std::move(result));
  return results;
}

}  // namespace banyan
