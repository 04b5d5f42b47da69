// A job that is broken on purpose, and the lines of progress that come of it.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/time.h"
#include "posix/child_process.h"
#include "posix/file_descriptor.h"
#include "tools/chaos/chaos_fault.h"
#include "tools/reports/training_progress.h"
#include "tools/supervision/process_record.h"
#include "tools/supervision/running_job.h"
#include "wan/wan_client.h"

namespace banyan {

// Follows the file to which a job's training processes, or who gathers for them, add their lines of progress.
// Thread-compatible.
class ProgressTail {
 public:
  // The file may come later.
  explicit ProgressTail(std::string path) : path_(std::move(path)) {}

  // Returns what has been added since the last call; the first one begins with the last lines that the file holds,
  // since a long training has many. Lines that are no progress are passed over; one that has no end yet is left for
  // later.
  std::vector<TrainingProgress> Take();

 private:
  void Open();

  const std::string path_;
  std::ifstream file_;
  std::string partial_line_;
};

// A running job as those see it who break it: its processes and its links. Thread-compatible; the thread that shares
// links must live as long.
// Invariants:
// - What is under way is undone once it is due and UndoDue is called, or when the object goes.
class ChaosJob {
 public:
  // `banyan_program` is a path; it sends the traffic that shares a link. Without it none is shared.
  explicit ChaosJob(const RunningJob& job, std::string banyan_program = "")
      : job_(job), wan_(job.wan_directory), banyan_program_(std::move(banyan_program)) {}
  ChaosJob(const ChaosJob&) = delete;
  ChaosJob& operator=(const ChaosJob&) = delete;
  ~ChaosJob() { UndoDue(kNever); }

  const RunningJob& description() const { return job_; }
  bool is_running() const;
  bool is_on_wan() const { return !job_.wan_directory.empty(); }

  // Returns its processes of this kind as their supervisors have recorded them last, those aside that do not run now
  // or are stopped by this object.
  std::vector<ProcessRecord> FindProcesses(ProcessKind kind) const;
  // Returns the links that are not cut. FAILED_PRECONDITION or UNAVAILABLE when the emulated WAN does not answer.
  absl::StatusOr<std::vector<ChaosLink>> FindLinks() const;

  // Kills or stops the process, or fills its disk; the fault then names it. NOT_FOUND when it has ended meanwhile.
  absl::Status Hit(const ProcessRecord& process, ChaosFault& fault);
  // Cuts the fault's links, slows them down or sends others' traffic over them: all of them or, with the error of the
  // first for which this failed, none. The same fault that is under way already lasts until this one is over.
  absl::Status HitLinks(const ChaosFault& fault);

  // Undoes what is due, and says what was undone and what could not be.
  std::vector<std::string> UndoDue(Timestamp now);
  // Returns when the next fault is to be undone; kNever when none is under way.
  Timestamp NextUndoing() const;

 private:
  struct UnderWay {
    ChaosFault fault;
    FileDescriptor stopped = {};                              // the process
    pid_t filled = 0;                                         // the process whose disk is full,
    FileDescriptor filled_process = {};                       // as long as it lives
    std::vector<std::unique_ptr<ChildProcess>> senders = {};  // of traffic
    std::vector<double> former_bps = {};                      // of the links, where they are slowed down
  };

  absl::Status Cut(const std::vector<ChaosLink>& links) const;
  // Returns the rates that the links had.
  absl::StatusOr<std::vector<double>> SlowDown(const ChaosFault& fault) const;
  absl::StatusOr<std::vector<std::unique_ptr<ChildProcess>>> Share(const ChaosFault& fault) const;

  const RunningJob job_;
  const WanClient wan_;
  const std::string banyan_program_;
  std::vector<UnderWay> under_way_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_
