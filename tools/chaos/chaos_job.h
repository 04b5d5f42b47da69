// A running job as `banyan chaos` sees it: its processes, its links, its progress. Breaks them on demand. Whatever is
// stopped or cut when the object goes is continued and healed. Thread-compatible.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_JOB_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
#include "tools/supervision/process_record.h"
#include "tools/supervision/running_job.h"
#include "wan/wan_client.h"

namespace banyan {

// One direction.
using ChaosLink = std::pair<std::string, std::string>;

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
