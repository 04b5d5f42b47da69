#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/quantity.h"
#include "posix/steady_clock.h"
#include "posix/stop_signals.h"
#include "runtime/records/durable_file.h"
#include "tools/chaos/chaos_job.h"
#include "tools/chaos/chaos_plan.h"
#include "tools/chaos/chaos_report.h"
#include "tools/chaos/chaos_watch.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/supervision/running_job.h"

namespace banyan {
namespace {

// Which directions of a link are cut.
enum class CutDirections : uint8_t { kEither, kBoth, kOne };

struct ChaosOptions {
  std::vector<PlannedFault> faults;
  absl::Duration stop_for;
  absl::Duration cut_for;
  CutDirections cut_directions = CutDirections::kEither;  // kEither: drawn for each cut
  uint64_t seed = 1;
  absl::Duration total = absl::InfiniteDuration();
  absl::Duration undisturbed_for;  // rounds are counted for so long before the first fault
  std::string progress_path;       // empty: nothing is measured
};

constexpr absl::Duration kTick = absl::Milliseconds(50);
// After the last fault, for those that are still coming back.
constexpr absl::Duration kSettleTime = absl::Seconds(15);

// One run of `banyan chaos`: watches a job for a while, then breaks it again and again. At the end it undoes what is
// under way, and measures what all that has cost. Blocking; use from one thread.
class ChaosRun {
 public:
  ChaosRun(const ChaosOptions& options, ChaosJob& job, const StopSignals& signals, std::ostream& out)
      : options_(options),
        job_(job),
        signals_(signals),
        out_(out),
        plan_(options.faults, options.seed),
        tail_(options.progress_path) {}

  ChaosOutcome Run() {
    periods_.start = SteadyNow();
    if (!options_.progress_path.empty()) WatchUndisturbed();
    periods_.first_fault = SteadyNow();
    const Timestamp end = periods_.first_fault + options_.total;
    while (!Ended() && SteadyNow() < end) {
      UndoDue(SteadyNow());
      if (SteadyNow() - periods_.first_fault >= plan_.NextTime()) DoFault(plan_.Take());
      Wait();
    }
    periods_.last_fault = SteadyNow();
    UndoDue(kNever);
    if (!options_.progress_path.empty()) Settle();
    periods_.end = SteadyNow();
    return MakeOutcome();
  }

 private:
  bool Ended() const { return signals_.received() || watch_.is_training_over() || !job_.is_running(); }

  void Wait() {
    pollfd stop = {signals_.fd(), POLLIN, 0};
    if (!signals_.received()) poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(kTick)));
    for (const TrainingProgress& progress : tail_.Take()) watch_.Add(progress);
  }

  void WatchUndisturbed() {
    out_ << "waiting for a round of the job in " << job_.description().directory << std::endl;
    while (!Ended() && !watch_.has_rounds()) Wait();
    NoteNodes();
    periods_.start = SteadyNow();
    if (options_.undisturbed_for > absl::ZeroDuration()) {
      out_ << "counting rounds without faults for " << absl::FormatDuration(options_.undisturbed_for) << std::endl;
    }
    const Timestamp end = periods_.start + options_.undisturbed_for;
    while (!Ended() && SteadyNow() < end) Wait();
  }

  // Until whoever was hit contributes again, if it does so in time; after the training, until all have told.
  void Settle() {
    const Timestamp end = SteadyNow() + kSettleTime;
    const auto is_settled = [this] {
      if (watch_.is_training_over()) return watch_.are_all_over();
      const ChaosFigures figures =
          watch_.Measure({periods_.start, periods_.first_fault, periods_.last_fault, SteadyNow()});
      return std::all_of(figures.costs.begin(), figures.costs.end(),
                         [](const ChaosCost& cost) { return cost.stalled + cost.not_back == 0; });
    };
    const auto goes_on = [this] { return !signals_.received() && (job_.is_running() || watch_.is_training_over()); };
    while (goes_on() && SteadyNow() < end && !is_settled()) Wait();
  }

  void NoteNodes() {
    for (const ProcessRecord& process : job_.description().records().ReadAll()) {
      if (process.rank.has_value()) watch_.SetNode(*process.rank, process.node);
    }
  }

  void Say(const std::string& text) {
    out_ << absl::FormatTime("%H:%M:%S", absl::Now(), absl::LocalTimeZone())
         << absl::StrFormat(" +%.1f s: ", absl::ToDoubleSeconds(SteadyNow() - periods_.first_fault)) << text
         << std::endl;
  }

  void DoFault(const PlannedFault& planned) {
    NoteNodes();
    if (planned.kind == ChaosKind::kPartition) return CutOff(planned);
    if (!InfoOf(planned.kind).process.has_value()) return HitLink(planned);
    std::vector<ProcessRecord> candidates = job_.FindProcesses(*InfoOf(planned.kind).process);
    // Of nodes one is spared, so that somebody survives.
    if (InfoOf(planned.kind).process == ProcessKind::kNode && candidates.size() < 2) candidates.clear();
    if (!planned.sites.empty()) {
      std::erase_if(candidates, [&](const ProcessRecord& process) { return process.node != planned.sites[0]; });
    }
    if (candidates.empty()) {
      return Say(absl::StrCat("no process for ", InfoOf(planned.kind).name, " ", absl::StrJoin(planned.sites, ", ")));
    }
    ChaosFault fault = MakeFault(planned);
    const absl::Status status = job_.Hit(candidates[plan_.Draw(candidates.size())], fault);
    Note(fault, status);
  }

  ChaosFault MakeFault(const PlannedFault& planned) const {
    ChaosFault fault = {.kind = planned.kind, .rate_bps = planned.rate_bps, .at = SteadyNow(), .lasts = planned.lasts};
    if (fault.lasts == absl::ZeroDuration() && InfoOf(planned.kind).is_undone()) {
      fault.lasts = planned.kind == ChaosKind::kStopNode ? options_.stop_for : options_.cut_for;
    }
    return fault;
  }

  // Cuts a link or slows it down.
  void HitLink(const PlannedFault& planned) {
    const absl::StatusOr<std::vector<ChaosLink>> found = job_.FindLinks();
    if (!found.ok()) return Say(absl::StrCat("no fault: ", found.status().message()));
    if (found->empty()) return Say(absl::StrCat("no link for ", InfoOf(planned.kind).name));
    const ChaosLink link =
        planned.sites.empty() ? (*found)[plan_.Draw(found->size())] : ChaosLink{planned.sites[0], planned.sites[1]};
    const ChaosLink back = {link.second, link.first};
    const bool can_be_both = std::find(found->begin(), found->end(), back) != found->end();
    // Drawn in any case, so that what follows does not depend on the option.
    const bool drawn_both = plan_.Draw(2) == 0;
    const bool is_wanted =
        planned.sites.empty() ? options_.cut_directions == CutDirections::kBoth || drawn_both : !planned.one_way;
    const bool is_both = can_be_both && options_.cut_directions != CutDirections::kOne && is_wanted;
    ChaosFault fault = MakeFault(planned);
    fault.target = absl::StrCat(link.first, is_both ? " - " : " > ", link.second);
    fault.links = {link};
    if (is_both) fault.links.push_back(back);
    Note(fault, job_.HitLinks(fault));
  }

  // Cuts all links between some sites and all others.
  void CutOff(const PlannedFault& planned) {
    const absl::StatusOr<std::vector<ChaosLink>> found = job_.FindLinks();
    if (!found.ok()) return Say(absl::StrCat("no partition: ", found.status().message()));
    ChaosFault fault = MakeFault(planned);
    fault.sites = planned.sites;
    if (fault.sites.empty()) {
      const std::vector<ProcessRecord> nodes = job_.FindProcesses(ProcessKind::kNode);
      if (nodes.size() < 2) return Say("no site for a partition");
      fault.sites = {nodes[plan_.Draw(nodes.size())].node};
    }
    const auto is_off = [&fault](const std::string& site) {
      return std::find(fault.sites.begin(), fault.sites.end(), site) != fault.sites.end();
    };
    for (const ChaosLink& link : *found) {
      if (is_off(link.first) != is_off(link.second)) fault.links.push_back(link);
    }
    fault.target = absl::StrJoin(fault.sites, ", ");
    if (fault.links.empty()) return Say(absl::StrCat("no link between ", fault.target, " and others"));
    Note(fault, job_.HitLinks(fault));
  }

  void Note(const ChaosFault& fault, const absl::Status& status) {
    if (!status.ok()) return Say(absl::StrCat("no fault: ", status.message()));
    Say(DescribeFault(InfoOf(fault.kind).does, fault));
    watch_.Add(fault);
  }

  void UndoDue(Timestamp now) {
    for (const std::string& text : job_.UndoDue(now)) Say(text);
  }

  ChaosEnd End() const {
    if (watch_.is_training_over()) return ChaosEnd::kTrainingIsOver;
    if (!job_.is_running()) return ChaosEnd::kJobIsGone;
    return signals_.received() ? ChaosEnd::kInterrupted : ChaosEnd::kTimeIsOver;
  }

  ChaosOutcome MakeOutcome() const {
    return {End(), periods_.last_fault - periods_.first_fault, watch_.faults(), watch_.Measure(periods_)};
  }

  const ChaosOptions& options_;
  ChaosJob& job_;
  const StopSignals& signals_;
  std::ostream& out_;
  ChaosPlan plan_;
  ProgressTail tail_;
  ChaosWatch watch_;
  ChaosPeriods periods_;
};

// Processes may come later; links do not.
absl::Status CheckJob(const ChaosOptions& options, const ChaosJob& job) {
  const auto needs_links = [](const PlannedFault& fault) { return !InfoOf(fault.kind).process.has_value(); };
  if (std::none_of(options.faults.begin(), options.faults.end(), needs_links)) return absl::OkStatus();
  if (!job.is_on_wan()) {
    return absl::FailedPreconditionError(
        "faults of links need the emulated WAN, and this job runs over loopback; leave them out, or start the job by "
        "'banyan demo --network wan'");
  }
  return job.FindLinks().status();
}

// Ends when the time is over, `signals` tell it to, the training is over, or the job is gone. Writes a line for each
// fault. The error says what the job lacks for the faults that were asked for.
absl::StatusOr<ChaosOutcome> RunChaos(const ChaosOptions& options, ChaosJob& job, const StopSignals& signals,
                                      std::ostream& out) {
  if (const absl::Status status = CheckJob(options, job); !status.ok()) return status;
  return ChaosRun(options, job, signals, out).Run();
}

constexpr double kStopsInLostAfter = 3;
constexpr char kBoth[] = "both";
constexpr char kOne[] = "one";
constexpr char kEither[] = "either";

struct ChaosFlags {
  std::string directory;  // empty: the one job that runs
  ChaosOptions options;
  std::string schedule_path;
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

void AddEvery(const std::string& name, ChaosKind kind, CommandLine& line, ChaosFlags& flags) {
  line.Custom(name, "TIME", InfoOf(kind).help, [&flags, kind](absl::string_view text) {
    PlannedFault fault = {.kind = kind};
    const absl::Status status = ReadDuration(text, fault.every);
    if (status.ok()) flags.options.faults.push_back(std::move(fault));
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
  line.Text("schedule", "FILE", "faults at times of their own, as well (docs/wan.md)", &flags.schedule_path);
  AddEvery("kill-every", ChaosKind::kKillNode, line, flags);
  AddEvery("stop-every", ChaosKind::kStopNode, line, flags);
  line.Custom("stop-for", "TIME", "how long a node is stopped (default: three times the silence that a job bears)",
              [&flags](absl::string_view text) { return ReadDuration(text, flags.stop_for.emplace()); });
  AddEvery("cut-every", ChaosKind::kCutLink, line, flags);
  AddTime("cut-for", "how long a link is cut (default 10s)", flags.options.cut_for, line);
  line.Choice("cut", {kEither, kBoth, kOne}, "the directions of a link that are cut (default: at random for each cut)",
              &flags.cut);
  AddEvery("worker-every", ChaosKind::kKillWorker, line, flags);
  AddEvery("scheduler-every", ChaosKind::kKillScheduler, line, flags);
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
  if (!flags.schedule_path.empty()) {
    const absl::StatusOr<std::string> text = ReadFile(flags.schedule_path);
    if (!text.ok()) return text.status();
    absl::StatusOr<std::vector<PlannedFault>> faults = ReadChaosSchedule(*text, flags.schedule_path);
    if (!faults.ok()) return faults.status();
    options.faults.insert(options.faults.end(), faults->begin(), faults->end());
  }
  ChaosJob job(*running);
  return RunChaos(options, job, signals, err);
}

}  // namespace

int ChaosCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ChaosFlags flags;
  flags.options.cut_for = absl::Seconds(10);
  flags.options.undisturbed_for = absl::Seconds(20);
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.options.faults.empty() && flags.schedule_path.empty()) {
    return line.UsageError("expected at least one kind of fault, such as --kill-every 15s, or a --schedule", err);
  }
  const absl::StatusOr<ChaosOutcome> outcome = FindAndBreak(flags, err);
  if (!outcome.ok()) return line.Failure(outcome.status(), err);
  out << (flags.json ? FormatOutcomeJson(*outcome) + "\n" : FormatOutcome(*outcome)) << std::flush;
  if (outcome->end == ChaosEnd::kJobIsGone) {
    return line.Failure(absl::UnavailableError("the job has ended before its training; it has not survived"), err);
  }
  if (!flags.check) return kExitSuccess;
  const absl::Status status = CheckSurvival(outcome->figures);
  return status.ok() ? kExitSuccess : line.Failure(status, err);
}

}  // namespace banyan
