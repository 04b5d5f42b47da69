#include "tools/chaos/chaos_job.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

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

ChaosJob::~ChaosJob() {
  for (const auto& [name, process] : stopped_) SendSignal(process, SIGCONT, name).IgnoreError();
  for (const ChaosLink& link : cut_) wan_.Heal(link.first, link.second).IgnoreError();
}

bool ChaosJob::is_running() const { return kill(job_.pid, 0) == 0 || errno == EPERM; }

std::vector<ProcessRecord> ChaosJob::FindProcesses() const {
  std::vector<ProcessRecord> processes = job_.records().ReadAll();
  std::erase_if(processes, [this](const ProcessRecord& process) {
    return process.pid == 0 || stopped_.contains(process.name) || ParentOf(process.pid) != process.supervisor;
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

absl::Status ChaosJob::Kill(const ProcessRecord& process) {
  const absl::StatusOr<FileDescriptor> opened = OpenProcess(process);
  return opened.ok() ? SendSignal(*opened, SIGKILL, process.name) : opened.status();
}

absl::Status ChaosJob::Stop(const ProcessRecord& process) {
  absl::StatusOr<FileDescriptor> opened = OpenProcess(process);
  if (!opened.ok()) return opened.status();
  const absl::Status status = SendSignal(*opened, SIGSTOP, process.name);
  if (status.ok()) stopped_[process.name] = *std::move(opened);
  return status;
}

void ChaosJob::Continue(const std::string& name) {
  const auto stopped = stopped_.find(name);
  if (stopped == stopped_.end()) return;
  SendSignal(stopped->second, SIGCONT, name).IgnoreError();
  stopped_.erase(stopped);
}

absl::Status ChaosJob::Cut(const std::vector<ChaosLink>& links) {
  for (size_t i = 0; i < links.size(); ++i) {
    const absl::Status status = wan_.Cut(links[i].first, links[i].second);
    if (status.ok()) {
      cut_.insert(links[i]);
      continue;
    }
    for (size_t done = 0; done < i; ++done) Heal(links[done]).IgnoreError();
    return status;
  }
  return absl::OkStatus();
}

absl::Status ChaosJob::Heal(const ChaosLink& link) {
  cut_.erase(link);
  return wan_.Heal(link.first, link.second);
}

}  // namespace banyan
