#include "wan/wan_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

// A process that is about to become another program shows an empty environment for a moment, without an event at its
// end: it is looked at so often, so long apart.
constexpr int kMostLooks = 20;
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(1);

std::string EnvironmentOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/environ"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Not a thread of the kernel, nor one that has ended, nor another user's.
bool IsReadableProgram(pid_t pid) {
  std::error_code error;
  return !std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/exe"), error).empty();
}

bool HasVariable(pid_t pid, const std::string& variable) {
  std::string text = EnvironmentOf(pid);
  for (int look = 1; text.empty() && look < kMostLooks && IsReadableProgram(pid); ++look) {
    absl::SleepFor(kBetweenLooks);
    text = EnvironmentOf(pid);
  }
  const std::vector<absl::string_view> variables = absl::StrSplit(text, '\0');
  return std::find(variables.begin(), variables.end(), variable) != variables.end();
}

// Descriptors of the processes, which never come to mean another process. The environment is looked at again, now that
// the process cannot be replaced.
std::vector<FileDescriptor> OpenProcesses(const std::string& id) {
  std::vector<FileDescriptor> processes;
  for (const pid_t pid : FindWanProcesses(id)) {
    FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (process.valid() && HasVariable(pid, absl::StrCat(kWanIdVariable, "=", id))) {
      processes.push_back(std::move(process));
    }
  }
  return processes;
}

void SignalAll(const std::vector<FileDescriptor>& processes, int signal) {
  for (const FileDescriptor& process : processes) syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

void WaitForAll(const std::vector<FileDescriptor>& processes, absl::Time deadline) {
  for (const FileDescriptor& process : processes) {
    pollfd ended = {process.get(), POLLIN, 0};
    const int64_t left_ms = std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - absl::Now()));
    poll(&ended, 1, static_cast<int>(left_ms));
  }
}

}  // namespace

std::vector<pid_t> FindWanProcesses(const std::string& id) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid) || pid == getpid()) continue;
    if (HasVariable(pid, absl::StrCat(kWanIdVariable, "=", id))) found.push_back(pid);
  }
  return found;
}

int EndWanProcesses(const std::string& id, absl::Duration patience) {
  if (id.empty()) return 0;
  for (const int signal : {SIGTERM, SIGKILL}) {
    const std::vector<FileDescriptor> processes = OpenProcesses(id);
    if (processes.empty()) return 0;
    SignalAll(processes, signal);
    WaitForAll(processes, absl::Now() + patience);
  }
  return static_cast<int>(FindWanProcesses(id).size());
}

}  // namespace banyan
