// A process that this one started and that never outlives it: it is killed when its ChildProcess goes, and by the
// kernel when this process ends in whatever way. Its standard error goes to a log file or to where this process's own
// goes; its standard output there too, or to this process. Thread-compatible. The thread that calls Start must live as
// long as the child: the kernel's promise is to that thread.
#ifndef BANYAN_POSIX_CHILD_PROCESS_H_
#define BANYAN_POSIX_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace banyan {

struct ChildProcessOptions {
  std::string name = {};                    // in messages: "node n3"
  std::vector<std::string> arguments = {};  // the first is the program, a path
  std::string log_path = {};                // made anew; empty: its output goes where this process's own goes
  bool append_log = false;                  // after what the log holds already
  bool capture_output = false;              // standard output comes out of TakeLines()
  bool capture_errors = false;              // standard error does as well
};

class ChildProcess {
 public:
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildProcessOptions& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Kills and reaps the child when it still runs.
  ~ChildProcess();

  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  // Readable when the child has written something or has closed its standard output; -1 when nothing is captured or all
  // is read.
  int output_fd() const { return output_fd_; }

  // The whole lines that have come since the last call, without waiting. A last line without an end comes when the
  // output closes.
  std::vector<std::string> TakeLines();
  // Looks whether the child has ended, without waiting.
  bool running();
  // Until the child has ended or the time is over; whether it has ended.
  bool WaitUntilEnded(absl::Duration timeout);
  // Asks the child to end (SIGTERM) or makes it end (SIGKILL); nothing when it has ended.
  void Signal(int signal);
  // "exit code 1", "signal 11 (Segmentation fault)"; empty while it runs or after exit code 0.
  std::string failure() const;
  // Returns the exit code as a shell has it: 128 and the signal's number after a signal. REQUIRES: it has ended.
  int exit_code() const;
  // The last `lines` lines of its log, indented, as much as there is.
  std::string LogTail(int lines) const;

 private:
  ChildProcess(std::string name, std::string log_path, pid_t pid, int output_fd);

  const std::string name_;
  const std::string log_path_;
  const pid_t pid_;
  int output_fd_;
  std::string partial_line_;
  std::optional<int> wait_status_;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_CHILD_PROCESS_H_
