#include "tools/chaos/chaos_command.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/quantity.h"
#include "posix/stop_signals.h"
#include "tools/chaos/chaos_job.h"
#include "tools/chaos/chaos_report.h"
#include "tools/chaos/chaos_run.h"
#include "tools/command_line.h"
#include "tools/supervision/running_job.h"

namespace banyan {
namespace {

constexpr double kStopsInLostAfter = 3;
constexpr char kBoth[] = "both";
constexpr char kOne[] = "one";
constexpr char kEither[] = "either";

struct ChaosFlags {
  std::string directory;  // empty: the one job that runs
  ChaosOptions options;
  std::optional<absl::Duration> stop_for;
  std::string cut = kEither;
  int64_t seed = 1;
  bool check = false;
  bool json = false;
};

absl::Status ReadDuration(absl::string_view text, absl::Duration& duration) {
  const absl::StatusOr<absl::Duration> read = ParseTime(text, std::nullopt);
  if (!read.ok() || *read <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a time above 0 with its unit, such as 15s, 1m30s or 500ms, got '", text, "'"));
  }
  duration = *read;
  return absl::OkStatus();
}

void AddEvery(const std::string& name, const std::string& help, ChaosKind kind, CommandLine& line, ChaosFlags& flags) {
  line.Custom(name, "TIME", help, [&flags, kind](absl::string_view text) {
    ChaosInterval interval = {kind, absl::ZeroDuration()};
    const absl::Status status = ReadDuration(text, interval.every);
    if (status.ok()) flags.options.intervals.push_back(interval);
    return status;
  });
}

void AddTime(const std::string& name, const std::string& help, absl::Duration& target, CommandLine& line) {
  line.Custom(name, "TIME", help, [&target](absl::string_view text) { return ReadDuration(text, target); });
}

CommandLine MakeCommandLine(ChaosFlags& flags) {
  CommandLine line(
      "banyan chaos",
      "Breaks a running job again and again: a `banyan demo`, or what `banyan wan exec --restart` runs on the "
      "emulated\n"
      "WAN. Supervisors start again what dies. Ctrl-C undoes what is under way. At the end it tells what the faults "
      "have\n"
      "cost: how long survivors were without a result, when killed nodes contributed again, rounds per hour.",
      "banyan chaos --kill-every 15s --stop-every 60s --cut-every 60s --for 10m");
  line.OptionalPositional("DIRECTORY", "of the job, needed where several run: a demo's in /tmp, an emulated WAN's own",
                          &flags.directory);
  AddEvery("kill-every", "kill a random node, this often in the mean", ChaosKind::kKillNode, line, flags);
  AddEvery("stop-every", "stop a random node (SIGSTOP), and let it go on later", ChaosKind::kStopNode, line, flags);
  line.Custom("stop-for", "TIME", "how long a node is stopped (default: three times the silence that a job bears)",
              [&flags](absl::string_view text) { return ReadDuration(text, flags.stop_for.emplace()); });
  AddEvery("cut-every", "cut a random link of the emulated WAN, and heal it later", ChaosKind::kCutLink, line, flags);
  AddTime("cut-for", "how long a link is cut (default 10s)", flags.options.cut_for, line);
  line.Choice("cut", {kEither, kBoth, kOne}, "the directions of a link that are cut (default: drawn for each cut)",
              &flags.cut);
  AddEvery("worker-every", "kill a random training process", ChaosKind::kKillWorker, line, flags);
  AddEvery("scheduler-every", "kill the scheduler", ChaosKind::kKillScheduler, line, flags);
  AddTime("for", "how long there are faults (default: until Ctrl-C or the end of the training)", flags.options.total,
          line);
  AddTime("undisturbed-for", "count rounds for so long before the first fault (default 20s)",
          flags.options.undisturbed_for, line);
  line.Integer("seed", "N", "of times and targets (default 1)", 0, INT64_MAX, &flags.seed);
  line.Text("progress", "FILE", "to which training processes add their JSON lines (default: the demo's own)",
            &flags.options.progress_path);
  line.Switch("check",
              "fail unless survivors of kills have a result within 1.5 s in the median and 3 s in 99 of 100, killed\n"
              "nodes contribute again within 5 s, and there are 0.88 of the rounds per hour",
              &flags.check);
  line.Switch("json", "print the summary as JSON", &flags.json);
  line.Needs("stop-for", "stop-every");
  line.Needs("cut-for", "cut-every");
  line.Needs("cut", "cut-every");
  return line;
}

absl::StatusOr<RunningJob> ChooseJob(const std::string& directory) {
  if (!directory.empty()) return ReadRunningJob(directory);
  std::vector<RunningJob> jobs = FindRunningJobs();
  if (jobs.size() == 1) return jobs[0];
  if (jobs.empty()) {
    return absl::NotFoundError("no job runs here; start one: banyan demo, or banyan wan exec NODE --restart -- ..");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "several jobs run; name one of ",
      absl::StrJoin(jobs, ", ", [](std::string* out, const RunningJob& job) { absl::StrAppend(out, job.directory); })));
}

absl::StatusOr<ChaosOutcome> FindAndBreak(const ChaosFlags& flags, std::ostream& err) {
  const StopSignals signals;
  const absl::StatusOr<RunningJob> running = ChooseJob(flags.directory);
  if (!running.ok()) return running.status();
  ChaosOptions options = flags.options;
  options.stop_for = flags.stop_for.value_or(kStopsInLostAfter * running->lost_after);
  options.cut_directions = flags.cut == kBoth  ? CutDirections::kBoth
                           : flags.cut == kOne ? CutDirections::kOne
                                               : CutDirections::kEither;
  options.seed = static_cast<uint64_t>(flags.seed);
  if (options.progress_path.empty()) options.progress_path = running->progress_path;
  ChaosJob job(*running);
  return RunChaos(options, job, signals, err);
}

int Fail(const absl::Status& status, std::ostream& err) {
  err << "banyan chaos: " << status.message() << "\n";
  return kExitFailure;
}

}  // namespace

int ChaosCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ChaosFlags flags;
  flags.options.cut_for = absl::Seconds(10);
  flags.options.undisturbed_for = absl::Seconds(20);
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.options.intervals.empty()) {
    return line.UsageError("expected at least one kind of fault, such as --kill-every 15s", err);
  }
  const absl::StatusOr<ChaosOutcome> outcome = FindAndBreak(flags, err);
  if (!outcome.ok()) return Fail(outcome.status(), err);
  out << (flags.json ? FormatOutcomeJson(*outcome) + "\n" : FormatOutcome(*outcome)) << std::flush;
  if (outcome->end == ChaosEnd::kJobIsGone) {
    return Fail(absl::UnavailableError("the job has ended before its training; it has not survived"), err);
  }
  if (!flags.check) return kExitSuccess;
  const absl::Status status = CheckSurvival(outcome->figures);
  return status.ok() ? kExitSuccess : Fail(status, err);
}

}  // namespace banyan
