#include "posix/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/check.h"

namespace banyan {
namespace {

// The status of a job of 32 nodes is a line of 200 KB. Of a longer line the rest is dropped.
constexpr size_t kLongestLine = 32 << 20;
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
constexpr int kCannotStart = 127;

absl::Status SystemError(const std::string& what) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int OpenLog(const ChildProcessOptions& options) {
  const int start = options.append_log ? 0 : O_TRUNC;
  return open(options.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | start, 0600);
}

// Between fork and exec: only async-signal-safe calls. A descriptor of -1 leaves the parent's in place.
[[noreturn]] void BecomeChild(pid_t parent, int log_fd, int output_fd, char* const* arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the line above.
  if (getppid() != parent) _exit(kCannotStart);
  // A group of its own: Ctrl-C reaches the parent alone, which ends its children in order.
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  if (output_fd >= 0) dup2(output_fd, STDOUT_FILENO);
  if (log_fd >= 0) dup2(log_fd, STDERR_FILENO);
  execv(arguments[0], arguments);
  const char* reason = strerrordesc_np(errno);
  for (const char* text : {"cannot start ", static_cast<const char*>(arguments[0]), ": ", reason, "\n"}) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) break;
  }
  _exit(kCannotStart);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildProcessOptions& options) {
  const bool has_log = !options.log_path.empty();
  const Descriptor log(has_log ? OpenLog(options) : -1);
  if (has_log && log.get() < 0) return SystemError(absl::StrCat("cannot write ", options.log_path));
  int ends[2] = {-1, -1};
  const bool captures = options.capture_output || options.capture_errors;
  if (captures && pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot make a pipe");
  Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  if (captures) fcntl(read_end.get(), F_SETFL, O_NONBLOCK);

  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return SystemError(absl::StrCat("cannot start ", options.name));
  if (pid == 0) {
    BecomeChild(parent, options.capture_errors ? write_end.get() : log.get(),
                options.capture_output ? write_end.get() : log.get(), arguments.data());
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(options.name, options.log_path, pid, read_end.Release()));
}

ChildProcess::ChildProcess(std::string name, std::string log_path, pid_t pid, int output_fd)
    : name_(std::move(name)), log_path_(std::move(log_path)), pid_(pid), output_fd_(output_fd) {}

ChildProcess::~ChildProcess() {
  if (running()) {
    Signal(SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  if (output_fd_ >= 0) close(output_fd_);
}

std::vector<std::string> ChildProcess::TakeLines() {
  std::vector<std::string> lines;
  char bytes[4096];
  while (output_fd_ >= 0) {
    const ssize_t count = read(output_fd_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (count == 0) {
      close(std::exchange(output_fd_, -1));
      if (!partial_line_.empty()) lines.push_back(std::exchange(partial_line_, {}));
      break;
    }
    for (const char c : absl::string_view(bytes, count)) {
      if (c == '\n') {
        lines.push_back(std::exchange(partial_line_, {}));
      } else if (partial_line_.size() < kLongestLine) {
        partial_line_.push_back(c);
      }
    }
  }
  return lines;
}

bool ChildProcess::running() {
  if (wait_status_.has_value()) return false;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == pid_) wait_status_ = status;
  return ended != pid_;
}

bool ChildProcess::WaitUntilEnded(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (running()) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(kPollInterval);
  }
  return true;
}

void ChildProcess::Signal(int signal) {
  if (!running()) return;
  // The group holds whatever the child has started itself. It may not exist yet, right after the start.
  if (kill(-pid_, signal) != 0) kill(pid_, signal);
}

std::string ChildProcess::failure() const {
  if (!wait_status_.has_value()) return "";
  if (WIFSIGNALED(*wait_status_)) {
    const int signal = WTERMSIG(*wait_status_);
    return absl::StrCat("signal ", signal, " (", strsignal(signal), ")");
  }
  const int code = WEXITSTATUS(*wait_status_);
  return code == 0 ? "" : absl::StrCat("exit code ", code);
}

int ChildProcess::exit_code() const {
  BANYAN_CHECK(wait_status_.has_value());
  return WIFSIGNALED(*wait_status_) ? 128 + WTERMSIG(*wait_status_) : WEXITSTATUS(*wait_status_);
}

std::string ChildProcess::LogTail(int lines) const {
  std::deque<std::string> tail;
  std::ifstream log(log_path_);
  for (std::string line; std::getline(log, line);) {
    tail.push_back(std::move(line));
    if (tail.size() > static_cast<size_t>(lines)) tail.pop_front();
  }
  std::string text;
  for (const std::string& line : tail) absl::StrAppend(&text, "    ", line, "\n");
  return text;
}

}  // namespace banyan
