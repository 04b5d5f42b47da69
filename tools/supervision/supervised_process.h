// Processes that are started again when they fail, and how often they are.
#ifndef BANYAN_TOOLS_SUPERVISION_SUPERVISED_PROCESS_H_
#define BANYAN_TOOLS_SUPERVISION_SUPERVISED_PROCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "posix/child_process.h"
#include "tools/supervision/process_record.h"

namespace banyan {

// Decides whether a process that has failed is started again, and when. Pure; thread-compatible; owned by whoever
// supervises the process.
//
// Invariants:
// - a process that runs for kShortLife between failures is started again for ever;
// - one that fails kMostFailures times in a row, each time sooner than that, is given up; the pauses between double;
// - who is killed from outside (SIGKILL) has not failed by itself, and such an end is not counted.
class RestartBudget {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(500);
  static constexpr absl::Duration kShortLife = absl::Seconds(10);
  static constexpr int kMostFailures = 5;

  // The process has failed after `lifetime`. Returns how long to wait before the next start; nothing when it is given
  // up.
  std::optional<absl::Duration> OnFailure(absl::Duration lifetime, bool was_killed);
  // Forgets failures that were another's fault.
  void Forgive() { failures_in_a_row_ = 0; }

  int failures_in_a_row() const { return failures_in_a_row_; }

 private:
  int failures_in_a_row_ = 0;
};

struct SupervisionOptions {
  ChildProcessOptions process;  // later starts go on with the log of the first
  ProcessKind kind = ProcessKind::kOther;
  std::string node;            // the data centre where it runs
  std::optional<int> rank;     // of a training process
  ProcessRecords records{""};  // where it is recorded
};

// A process that is started again when it fails, in the same way and after a short pause, as a service manager would.
// Exit code 0 means that it is done, exit code 2 that it was called wrongly, which no other start mends. It never
// outlives the object. Thread-compatible; the thread that calls Start and Tend must live as long.
class SupervisedProcess {
 public:
  static absl::StatusOr<std::unique_ptr<SupervisedProcess>> Start(const SupervisionOptions& options);
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;
  // Kills it when it still runs.
  ~SupervisedProcess();

  const std::string& name() const { return options_.process.name; }

  // Looks whether it has ended, and starts it again when it has failed and the pause is over. Call it often. An error
  // when the system refuses the start; the next call tries again.
  absl::Status Tend();

  // Runs, as far as Tend has seen; false in the pause before the next start as well.
  bool is_up() const { return is_up_; }
  // Has ended with exit code 0.
  bool is_done() const { return !is_up_ && failure_.empty(); }
  // Has failed too often in a row, or was called wrongly: it is not started any more.
  bool is_given_up() const { return is_given_up_; }
  // How often it has failed. Grows when the end is seen, before the next start.
  int failures() const { return failures_; }
  // Of the last end: "exit code 1", "signal 9 (Killed)"; empty before the first.
  const std::string& failure() const { return failure_; }
  // Returns whether somebody has ended it by SIGTERM: it has not caught that, or says so with exit code 143, as
  // banyan's daemons do. For Tend this is a failure like others.
  bool was_asked_to_end() const;
  // Its failures up to now were another's fault.
  void Forgive() { budget_.Forgive(); }

  // "node n2 ended with signal 11 (Segmentation fault)", and how often if it is given up.
  std::string DescribeEnd() const;
  std::string LogTail(int lines) const { return child_->LogTail(lines); }

  // As those of ChildProcess, of all starts together.
  std::vector<std::string> TakeLines();
  int output_fd() const { return child_->output_fd(); }
  // Asks or makes it end; it is not started again meanwhile unless Tend is called.
  void Signal(int signal) { child_->Signal(signal); }
  bool WaitUntilEnded(absl::Duration timeout) { return child_->WaitUntilEnded(timeout); }

 private:
  explicit SupervisedProcess(const SupervisionOptions& options) : options_(options) {}

  absl::Status StartChild();
  void NoteEnd();
  void WriteRecord(pid_t pid) const;
  ProcessRecord MakeRecord(pid_t pid) const;

  const SupervisionOptions options_;
  std::unique_ptr<ChildProcess> child_;
  std::vector<std::string> lines_;  // of children that have ended
  RestartBudget budget_;
  Timestamp started_;
  Timestamp next_start_;
  int starts_ = 0;
  int failures_ = 0;
  std::string failure_;
  bool is_up_ = false;
  bool is_given_up_ = false;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_SUPERVISION_SUPERVISED_PROCESS_H_
