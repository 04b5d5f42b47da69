#include "tools/supervision/supervised_process.h"

#include <signal.h>
#include <unistd.h>

#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// As commands say that their flags are wrong, which no other start mends.
constexpr char kWrongUsage[] = "exit code 2";
// 128 and SIGTERM.
constexpr char kAskedToEnd[] = "exit code 143";

bool IsSignal(const std::string& failure, int signal) {
  return absl::StartsWith(failure, absl::StrCat("signal ", signal, " "));
}

}  // namespace

std::optional<absl::Duration> RestartBudget::OnFailure(absl::Duration lifetime, bool was_killed) {
  if (was_killed) return kFirstPause;
  failures_in_a_row_ = lifetime < kShortLife ? failures_in_a_row_ + 1 : 1;
  if (failures_in_a_row_ >= kMostFailures) return std::nullopt;
  return kFirstPause * (1 << (failures_in_a_row_ - 1));
}

absl::StatusOr<std::unique_ptr<SupervisedProcess>> SupervisedProcess::Start(const SupervisionOptions& options) {
  std::unique_ptr<SupervisedProcess> process(new SupervisedProcess(options));
  if (absl::Status status = process->StartChild(); !status.ok()) return status;
  return process;
}

SupervisedProcess::~SupervisedProcess() { options_.records.Remove(MakeRecord(0)); }

absl::Status SupervisedProcess::Tend() {
  if (is_up_ && !child_->running()) NoteEnd();
  if (is_up_ || is_done() || is_given_up_ || SteadyNow() < next_start_) return absl::OkStatus();
  return StartChild();
}

absl::Status SupervisedProcess::StartChild() {
  ChildProcessOptions process = options_.process;
  process.append_log = starts_ > 0;
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(process);
  if (!child.ok()) return child.status();
  child_ = *std::move(child);
  started_ = SteadyNow();
  ++starts_;
  is_up_ = true;
  WriteRecord(child_->pid());
  return absl::OkStatus();
}

void SupervisedProcess::NoteEnd() {
  std::vector<std::string> rest = child_->TakeLines();
  lines_.insert(lines_.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  is_up_ = false;
  failure_ = child_->failure();
  WriteRecord(0);
  if (failure_.empty()) return;
  ++failures_;
  const std::optional<absl::Duration> pause =
      budget_.OnFailure(SteadyNow() - started_, /*was_killed=*/IsSignal(failure_, SIGKILL));
  is_given_up_ = !pause.has_value() || failure_ == kWrongUsage;
  if (pause.has_value()) next_start_ = SteadyNow() + *pause;
}

bool SupervisedProcess::was_asked_to_end() const { return IsSignal(failure_, SIGTERM) || failure_ == kAskedToEnd; }

std::string SupervisedProcess::DescribeEnd() const {
  std::string text = absl::StrCat(name(), " ended with ", failure_.empty() ? "exit code 0, too early" : failure_);
  if (failure_ == kWrongUsage) return absl::StrCat(text, " (wrong usage): it is not started again");
  if (is_given_up_) {
    absl::StrAppend(&text, ", ", budget_.failures_in_a_row(), " times in a row, each time within ",
                    absl::FormatDuration(RestartBudget::kShortLife), ": it is not started again");
  }
  return text;
}

std::vector<std::string> SupervisedProcess::TakeLines() {
  std::vector<std::string> lines = std::exchange(lines_, {});
  std::vector<std::string> more = child_->TakeLines();
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return lines;
}

// Who only wants to be found does not fail where the disk is full.
void SupervisedProcess::WriteRecord(pid_t pid) const { options_.records.Write(MakeRecord(pid)).IgnoreError(); }

ProcessRecord SupervisedProcess::MakeRecord(pid_t pid) const {
  return {.name = name(),
          .kind = options_.kind,
          .node = options_.node,
          .rank = options_.rank,
          .pid = pid,
          .supervisor = getpid(),
          .starts = starts_};
}

}  // namespace banyan
