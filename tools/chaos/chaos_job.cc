#include "tools/chaos/chaos_job.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/units.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// 0 when there is no such process.
pid_t ParentOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  // PID (NAME) STATE PARENT ...: the name may hold anything but is followed by the last parenthesis.
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string state;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

// A descriptor that never comes to mean another process. The number alone may: it is given out again.
absl::StatusOr<FileDescriptor> OpenProcess(const ProcessRecord& record) {
  FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, record.pid, 0)));
  if (!process.valid() || ParentOf(record.pid) != record.supervisor) {
    return absl::NotFoundError(absl::StrCat(record.name, " (process ", record.pid, ") has ended meanwhile"));
  }
  return process;
}

absl::Status SendSignal(const FileDescriptor& process, int signal, const std::string& name) {
  if (syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot send signal ", signal, " to ", name));
}

// As on a full disk, or with room again.
absl::Status LimitFiles(pid_t process, bool is_full, const std::string& name) {
  rlimit limit = {};
  if (prlimit(process, RLIMIT_FSIZE, nullptr, &limit) == 0) {
    limit.rlim_cur = is_full ? 0 : limit.rlim_max;
    if (prlimit(process, RLIMIT_FSIZE, &limit, nullptr) == 0) return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot limit the files of ", name));
}

// What is left of a link's rate that is slowed down, unless a rate is named.
constexpr double kSlowPart = 0.1;
// Others' part of a shared link's present rate: what is left to the job is less than a third.
constexpr double kTrafficShare = 0.7;
// Whoever cannot send says so within this time.
constexpr absl::Duration kBegins = absl::Milliseconds(300);

constexpr std::streamoff kFirstBytes = 64 * 1024;

}  // namespace

// What is left of the line in the middle of which it begins is no progress.
void ProgressTail::Open() {
  file_.open(path_);
  if (!file_.is_open()) return;
  file_.seekg(0, std::ios::end);
  const std::streamoff size_bytes = file_.tellg();
  file_.seekg(std::max<std::streamoff>(0, size_bytes - kFirstBytes));
}

std::vector<TrainingProgress> ProgressTail::Take() {
  std::vector<TrainingProgress> taken;
  if (!file_.is_open()) Open();
  file_.clear();
  for (std::string line; std::getline(file_, line);) {
    partial_line_ += line;
    // The end of the file came first.
    if (file_.eof()) break;
    absl::StatusOr<TrainingProgress> progress = ParseProgress(partial_line_);
    if (progress.ok()) taken.push_back(*std::move(progress));
    partial_line_.clear();
  }
  return taken;
}

bool ChaosJob::is_running() const { return kill(job_.pid, 0) == 0 || errno == EPERM; }

std::vector<ProcessRecord> ChaosJob::FindProcesses(ProcessKind kind) const {
  std::vector<ProcessRecord> processes = job_.records().ReadAll();
  std::erase_if(processes, [this, kind](const ProcessRecord& process) {
    const bool is_stopped = std::any_of(under_way_.begin(), under_way_.end(), [&process](const UnderWay& hit) {
      return hit.stopped.valid() && hit.fault.target == process.name;
    });
    return process.kind != kind || process.pid == 0 || is_stopped || ParentOf(process.pid) != process.supervisor;
  });
  return processes;
}

absl::StatusOr<std::vector<ChaosLink>> ChaosJob::FindLinks() const {
  const absl::StatusOr<WanStatus> status = wan_.Status();
  if (!status.ok()) return status.status();
  std::vector<ChaosLink> links;
  for (const WanStatus::Link& link : status->links) {
    if (!link.is_cut) links.emplace_back(link.from, link.to);
  }
  return links;
}

absl::Status ChaosJob::Hit(const ProcessRecord& process, ChaosFault& fault) {
  fault.target = process.name;
  if (process.kind != ProcessKind::kScheduler) fault.node = process.node;
  if (process.kind == ProcessKind::kTraining) fault.rank = process.rank;
  absl::StatusOr<FileDescriptor> opened = OpenProcess(process);
  if (!opened.ok()) return opened.status();
  if (fault.kind == ChaosKind::kFillDisk) {
    const absl::Status status = LimitFiles(process.pid, /*is_full=*/true, process.name);
    if (status.ok()) {
      under_way_.push_back({.fault = fault, .filled = process.pid, .filled_process = *std::move(opened)});
    }
    return status;
  }
  const bool is_stop = fault.kind == ChaosKind::kStopNode;
  const absl::Status status = SendSignal(*opened, is_stop ? SIGSTOP : SIGKILL, process.name);
  if (status.ok() && is_stop) under_way_.push_back({.fault = fault, .stopped = *std::move(opened)});
  return status;
}

absl::Status ChaosJob::HitLinks(const ChaosFault& fault) {
  UnderWay next = {.fault = fault};
  if (fault.kind == ChaosKind::kCutLink || fault.kind == ChaosKind::kPartition) {
    if (absl::Status status = Cut(fault.links); !status.ok()) return status;
  } else if (fault.kind == ChaosKind::kSlowLink) {
    absl::StatusOr<std::vector<double>> former = SlowDown(fault);
    if (!former.ok()) return former.status();
    next.former_bps = *std::move(former);
  } else {
    absl::StatusOr<std::vector<std::unique_ptr<ChildProcess>>> senders = Share(fault);
    if (!senders.ok()) return senders.status();
    next.senders = *std::move(senders);
    next.fault.at = SteadyNow();
  }
  std::erase_if(under_way_, [&fault](const UnderWay& earlier) {
    return earlier.fault.kind == fault.kind && earlier.fault.links == fault.links;
  });
  under_way_.push_back(std::move(next));
  return absl::OkStatus();
}

absl::Status ChaosJob::Cut(const std::vector<ChaosLink>& links) const {
  for (size_t i = 0; i < links.size(); ++i) {
    const absl::Status status = wan_.Cut(links[i].first, links[i].second);
    if (status.ok()) continue;
    for (size_t done = 0; done < i; ++done) wan_.Heal(links[done].first, links[done].second).IgnoreError();
    return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ChaosJob::SlowDown(const ChaosFault& fault) const {
  const absl::StatusOr<WanStatus> wan = wan_.Status();
  if (!wan.ok()) return wan.status();
  std::vector<double> former;
  for (const auto& [from, to] : fault.links) {
    const WanStatus::Link* const link = wan->FindLink(from, to);
    if (link == nullptr) return absl::NotFoundError(absl::StrCat("there is no link from ", from, " to ", to));
    former.push_back(link->mbps * kBitsPerMegabit);
    const double rate_bps = fault.rate_bps > 0 ? fault.rate_bps : kSlowPart * former.back();
    if (const absl::Status status = wan_.SetRate(from, to, rate_bps); !status.ok()) {
      for (size_t i = 0; i + 1 < former.size(); ++i) {
        wan_.SetRate(fault.links[i].first, fault.links[i].second, former[i]).IgnoreError();
      }
      return status;
    }
  }
  return former;
}

absl::StatusOr<std::vector<std::unique_ptr<ChildProcess>>> ChaosJob::Share(const ChaosFault& fault) const {
  const absl::StatusOr<WanStatus> wan = wan_.Status();
  if (!wan.ok()) return wan.status();
  std::vector<std::unique_ptr<ChildProcess>> senders;
  for (const auto& [from, to] : fault.links) {
    const WanStatus::Link* const link = wan->FindLink(from, to);
    if (link == nullptr) return absl::NotFoundError(absl::StrCat("the demo has no link from ", from, " to ", to));
    const std::string lasts = absl::FormatDuration(fault.lasts);
    absl::StatusOr<std::unique_ptr<ChildProcess>> sender =
        ChildProcess::Start({.name = absl::StrCat("traffic from ", from, " to ", to),
                             .arguments = {banyan_program_, "wan", "traffic", from, to, "--dir", job_.wan_directory,
                                           "--rate", absl::StrFormat("%.3f", kTrafficShare * link->mbps), "--on", lasts,
                                           "--off", "0", "--for", lasts},
                             .log_path = job_.directory + "/traffic.log",
                             .append_log = false,
                             .capture_output = false});
    if (!sender.ok()) return sender.status();
    if ((*sender)->WaitUntilEnded(kBegins) && !(*sender)->failure().empty()) {
      return absl::UnavailableError(
          absl::StrCat((*sender)->name(), " ended with ", (*sender)->failure(), ": ", (*sender)->LogTail(1)));
    }
    senders.push_back(*std::move(sender));
  }
  return senders;
}

std::vector<std::string> ChaosJob::UndoDue(Timestamp now) {
  std::vector<std::string> said;
  std::erase_if(under_way_, [&](const UnderWay& hit) {
    const ChaosFault& fault = hit.fault;
    if (fault.at + fault.lasts > now) return false;
    said.push_back(DescribeFault(InfoOf(fault.kind).undoes, fault));
    if (hit.stopped.valid()) SendSignal(hit.stopped, SIGCONT, fault.target).IgnoreError();
    // Its number may be another process's now.
    const bool is_full = hit.filled != 0 && SendSignal(hit.filled_process, 0, fault.target).ok();
    if (is_full) LimitFiles(hit.filled, /*is_full=*/false, fault.target).IgnoreError();
    const bool is_cut = fault.kind == ChaosKind::kCutLink || fault.kind == ChaosKind::kPartition;
    for (size_t i = 0; i < fault.links.size(); ++i) {
      const auto& [from, to] = fault.links[i];
      absl::Status status;
      if (is_cut) status = wan_.Heal(from, to);
      if (!hit.former_bps.empty()) status = wan_.SetRate(from, to, hit.former_bps[i]);
      if (!status.ok()) said.emplace_back(status.message());
    }
    return true;
  });
  return said;
}

Timestamp ChaosJob::NextUndoing() const {
  Timestamp next = kNever;
  for (const UnderWay& hit : under_way_) next = std::min(next, hit.fault.at + hit.fault.lasts);
  return next;
}

}  // namespace banyan
