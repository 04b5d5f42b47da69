// Starting and stopping an emulator from another process.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "wan/emulator.h"
#include "wan/wan_client.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);

// Readable when the process is asked to end.
FileDescriptor OpenStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Closes what the caller has open but for its standard files, so that nobody waits for their end in vain.
FileDescriptor KeepOnly(FileDescriptor kept) {
  constexpr int kFirst = STDERR_FILENO + 1;
  if (kept.get() != kFirst) kept = FileDescriptor(dup2(kept.get(), kFirst));
  close_range(kFirst + 1, ~0u, 0);
  return kept;
}

// The child's side: tells how the start went, and runs. What it prints later is for the log.
[[noreturn]] void RunInBackground(const EmulatorOptions& options, FileDescriptor report) {
  report = KeepOnly(std::move(report));
  setsid();
  const FileDescriptor stop = OpenStopSignals();
  absl::StatusOr<std::unique_ptr<Emulator>> emulator = Emulator::Start(options);
  if (!emulator.ok()) {
    const std::string text = absl::StrCat(static_cast<int>(emulator.status().code()), " ", emulator.status().message());
    if (write(report.get(), text.data(), text.size()) < 0) _exit(1);
    _exit(1);
  }
  const FileDescriptor null(open("/dev/null", O_RDWR));
  const FileDescriptor log(
      open(WanDirectory(options.directory).log_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600));
  dup2(null.get(), STDIN_FILENO);
  dup2(log.valid() ? log.get() : null.get(), STDOUT_FILENO);
  dup2(log.valid() ? log.get() : null.get(), STDERR_FILENO);
  if (chdir("/") != 0) std::fprintf(stderr, "cannot leave the directory it was started in\n");
  report.Close();
  const absl::Status status = (*emulator)->Run(stop.get());
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  _exit(status.ok() ? 0 : 1);
}

std::string ReadAll(int fd) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes, static_cast<size_t>(count));
  }
}

// Until the process has ended; SIGKILL after some patience, unless it does not listen at all. The directory's lock
// shows that it is the emulator.
void EndForwarder(const WanDirectory& directory, int64_t pid) {
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid() || !directory.IsLocked()) return;
  const absl::Duration patience = WanClient(directory.path()).Stop().ok() ? kPatience : absl::ZeroDuration();
  pollfd ended = {process.get(), POLLIN, 0};
  if (poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) > 0) return;
  syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatience)));
}

}  // namespace

absl::Status StartEmulatorInBackground(const EmulatorOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  const FileDescriptor report(ends[0]);
  FileDescriptor child_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start the emulator");
  if (pid == 0) RunInBackground(options, std::move(child_end));
  child_end.Close();
  const std::string text = ReadAll(report.get());
  if (text.empty()) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == 0) return absl::OkStatus();
    return absl::InternalError("the emulator ended as soon as it had started");
  }
  waitpid(pid, nullptr, 0);
  const size_t space = text.find(' ');
  return absl::Status(static_cast<absl::StatusCode>(std::stoi(text)), text.substr(space + 1));
}

absl::Status StopEmulator(const std::string& path) {
  const WanDirectory directory(path);
  const absl::StatusOr<std::optional<WanStatus>> state = directory.ReadState();
  if (!state.ok()) return state.status();
  if (!state->has_value()) {
    return directory.IsLocked()
               ? absl::UnavailableError(absl::StrCat("an emulated WAN is just starting in ", path, "; try again"))
               : directory.Remove();
  }
  const int left = EndWanProcesses((*state)->id, kPatience);
  if (directory.IsLocked()) EndForwarder(directory, (*state)->pid);
  // Of use where this process has started it.
  waitpid(static_cast<pid_t>((*state)->pid), nullptr, WNOHANG);
  if (directory.IsLocked()) {
    return absl::UnavailableError(absl::StrCat("process ", (*state)->pid, " holds ", path, " and does not end"));
  }
  if (left > 0) {
    return absl::UnavailableError(absl::StrCat(left, " processes in the nodes do not end; try again"));
  }
  return directory.Remove();
}

}  // namespace banyan
