#include "tools/chaos/chaos_run.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "posix/steady_clock.h"
#include "tools/chaos/chaos_watch.h"
#include "tools/chaos/progress_tail.h"

namespace banyan {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(50);
// After the last fault, for those that are still coming back.
constexpr absl::Duration kSettleTime = absl::Seconds(15);

class ChaosRun {
 public:
  ChaosRun(const ChaosOptions& options, ChaosJob& job, const StopSignals& signals, std::ostream& out)
      : options_(options),
        job_(job),
        signals_(signals),
        out_(out),
        plan_(options.intervals, options.seed),
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
  struct Undoing {
    Timestamp at;
    ChaosFault fault;
    std::vector<ChaosLink> links;
  };

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

  // Until whoever was hit contributes again, if it does so in time.
  void Settle() {
    const Timestamp end = SteadyNow() + kSettleTime;
    const auto is_settled = [this] {
      const ChaosFigures figures =
          watch_.Measure({periods_.start, periods_.first_fault, periods_.last_fault, SteadyNow()});
      return std::all_of(figures.costs.begin(), figures.costs.end(),
                         [](const ChaosCost& cost) { return cost.stalled + cost.not_back == 0; });
    };
    while (!Ended() && SteadyNow() < end && !is_settled()) Wait();
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

  void DoFault(ChaosKind kind) {
    NoteNodes();
    if (kind == ChaosKind::kCutLink) return CutLink();
    std::vector<ProcessRecord> candidates = Candidates(kind);
    if (candidates.empty()) return Say(absl::StrCat("no process for ", NameOf(kind)));
    const ProcessRecord& process = candidates[plan_.Draw(candidates.size())];
    ChaosFault fault = {.kind = kind, .target = process.name, .at = SteadyNow()};
    if (kind != ChaosKind::kKillScheduler) fault.node = process.node;
    if (kind == ChaosKind::kKillWorker) fault.rank = process.rank;
    if (kind == ChaosKind::kStopNode) fault.lasts = options_.stop_for;
    const absl::Status status = kind == ChaosKind::kStopNode ? job_.Stop(process) : job_.Kill(process);
    Note(std::move(fault), {}, status);
  }

  // Of nodes one is spared, so that somebody survives.
  std::vector<ProcessRecord> Candidates(ChaosKind kind) const {
    const ProcessKind wanted = kind == ChaosKind::kKillWorker      ? ProcessKind::kTraining
                               : kind == ChaosKind::kKillScheduler ? ProcessKind::kScheduler
                                                                   : ProcessKind::kNode;
    std::vector<ProcessRecord> found = job_.FindProcesses();
    std::erase_if(found, [wanted](const ProcessRecord& process) { return process.kind != wanted; });
    if (wanted == ProcessKind::kNode && found.size() < 2) found.clear();
    return found;
  }

  void CutLink() {
    const absl::StatusOr<std::vector<ChaosLink>> found = job_.FindLinks();
    if (!found.ok()) return Say(absl::StrCat("no cut: ", found.status().message()));
    if (found->empty()) return Say("no link for a cut");
    const ChaosLink link = (*found)[plan_.Draw(found->size())];
    const ChaosLink back = {link.second, link.first};
    const bool can_be_both = std::find(found->begin(), found->end(), back) != found->end();
    // Drawn in any case, so that what follows does not depend on the option.
    const bool drawn_both = plan_.Draw(2) == 0;
    const bool is_both = can_be_both && options_.cut_directions != CutDirections::kOne &&
                         (options_.cut_directions == CutDirections::kBoth || drawn_both);
    ChaosFault fault = {.kind = ChaosKind::kCutLink,
                        .target = absl::StrCat(link.first, is_both ? " - " : " > ", link.second),
                        .at = SteadyNow(),
                        .lasts = options_.cut_for};
    std::vector<ChaosLink> links = {link};
    if (is_both) links.push_back(back);
    const absl::Status status = job_.Cut(links);
    Note(std::move(fault), std::move(links), status);
  }

  void Note(ChaosFault fault, std::vector<ChaosLink> links, const absl::Status& status) {
    if (!status.ok()) return Say(absl::StrCat("no fault: ", status.message()));
    Say(DescribeFault(fault));
    watch_.Add(fault);
    if (fault.lasts > absl::ZeroDuration()) under_way_.push_back({fault.at + fault.lasts, fault, std::move(links)});
  }

  void UndoDue(Timestamp now) {
    std::erase_if(under_way_, [this, now](const Undoing& undoing) {
      if (undoing.at > now) return false;
      Say(DescribeUndoing(undoing.fault));
      if (undoing.fault.kind == ChaosKind::kStopNode) job_.Continue(undoing.fault.target);
      for (const ChaosLink& link : undoing.links) {
        if (const absl::Status status = job_.Heal(link); !status.ok()) Say(std::string(status.message()));
      }
      return true;
    });
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
  std::vector<Undoing> under_way_;
};

bool Has(const ChaosOptions& options, ChaosKind kind) {
  return std::any_of(options.intervals.begin(), options.intervals.end(),
                     [kind](const ChaosInterval& interval) { return interval.kind == kind; });
}

// Processes may come later; links do not.
absl::Status CheckJob(const ChaosOptions& options, const ChaosJob& job) {
  if (!Has(options, ChaosKind::kCutLink)) return absl::OkStatus();
  if (!job.is_on_wan()) {
    return absl::FailedPreconditionError(
        "cuts need the links of the emulated WAN, and this job runs over loopback; leave out --cut-every, or start the "
        "job by 'banyan demo --network wan'");
  }
  return job.FindLinks().status();
}

}  // namespace

absl::StatusOr<ChaosOutcome> RunChaos(const ChaosOptions& options, ChaosJob& job, const StopSignals& signals,
                                      std::ostream& out) {
  if (const absl::Status status = CheckJob(options, job); !status.ok()) return status;
  return ChaosRun(options, job, signals, out).Run();
}

}  // namespace banyan
