// What a job leaves on disk for whoever wants to find it while it runs. `banyan demo` does so in its work directory, an
// emulated WAN in its own. Values; thread-compatible.
#ifndef BANYAN_TOOLS_SUPERVISION_RUNNING_JOB_H_
#define BANYAN_TOOLS_SUPERVISION_RUNNING_JOB_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/supervision/process_record.h"

namespace banyan {

struct RunningJob {
  std::string directory;           // by which a user names it
  pid_t pid = 0;                   // who runs it: the job is over when this process is
  std::string wan_directory = {};  // of the emulated WAN; empty on loopback
  std::string progress_path = {};  // lines of training_progress.h; empty when nobody writes them
  absl::Duration lost_after = {};  // silence after which a node falls out

  ProcessRecords records() const { return ProcessRecords(RecordsFolder(directory)); }
  // The folder of a job's records of processes; that of an emulated WAN has the same name (wan_directory.h).
  static std::string RecordsFolder(const std::string& directory) { return directory + "/processes"; }
};

// Writes the job's file into its directory. Removes it, so that nobody finds the job any more.
absl::Status WriteRunningJob(const RunningJob& job);
void RemoveRunningJob(const std::string& directory);

// Reads the job of that directory, of a demo or of an emulated WAN. NOT_FOUND when none runs there.
absl::StatusOr<RunningJob> ReadRunningJob(const std::string& directory);

// Returns the jobs of this user that run on this machine: demos, and supervised processes on the emulated WAN in its
// usual directory.
std::vector<RunningJob> FindRunningJobs();

}  // namespace banyan

#endif  // BANYAN_TOOLS_SUPERVISION_RUNNING_JOB_H_
