// A job that `banyan chaos` breaks, and the lines of progress that come of it.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
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

// One direction.
using ChaosLink = std::pair<std::string, std::string>;

// A running job as `banyan chaos` sees it: its processes, its links, its progress. Breaks them on demand. Whatever is
// stopped or cut when the object goes is continued and healed. Thread-compatible.
class ChaosJob {
 public:
  explicit ChaosJob(const RunningJob& job) : job_(job), wan_(job.wan_directory) {}
  ChaosJob(const ChaosJob&) = delete;
  ChaosJob& operator=(const ChaosJob&) = delete;
  ~ChaosJob();

  const RunningJob& description() const { return job_; }
  bool is_running() const;
  bool is_on_wan() const { return !job_.wan_directory.empty(); }

  // Returns its processes as their supervisors have recorded them last, those aside that do not run now or are stopped
  // by this object.
  std::vector<ProcessRecord> FindProcesses() const;
  // Returns the links that are not cut. FAILED_PRECONDITION or UNAVAILABLE when the emulated WAN does not answer.
  absl::StatusOr<std::vector<ChaosLink>> FindLinks() const;

  // NOT_FOUND when the process has ended meanwhile.
  absl::Status Kill(const ProcessRecord& process);
  absl::Status Stop(const ProcessRecord& process);
  // Lets a stopped process go on, by its name; nothing when it has ended.
  void Continue(const std::string& name);
  // All of them or, with the error of the first that could not be cut, none.
  absl::Status Cut(const std::vector<ChaosLink>& links);
  absl::Status Heal(const ChaosLink& link);

 private:
  const RunningJob job_;
  const WanClient wan_;
  std::map<std::string, FileDescriptor> stopped_;  // process descriptors, by name
  std::set<ChaosLink> cut_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_
