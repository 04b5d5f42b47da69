// What a supervisor leaves on disk about a process while it looks after it, for whoever wants to find it: `banyan
// chaos` above all. One small file for each process, in one folder for each job. Values; thread-compatible.
#ifndef BANYAN_TOOLS_SUPERVISION_PROCESS_RECORD_H_
#define BANYAN_TOOLS_SUPERVISION_PROCESS_RECORD_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

enum class ProcessKind : uint8_t { kNode, kScheduler, kTraining, kOther };

struct ProcessRecord {
  std::string name;  // in messages: "node n3"
  ProcessKind kind = ProcessKind::kOther;
  std::string node = {};         // the data centre where it runs; empty when none is known
  std::optional<int> rank = {};  // of a training process among all of the job
  pid_t pid = 0;                 // 0 between an end and the next start
  pid_t supervisor = 0;          // its parent
  int starts = 0;
};

// Returns what the command line runs: `banyan node`, `banyan scheduler`, another subcommand of banyan (kOther), or a
// training process. Pure.
ProcessKind KindOf(const std::vector<std::string>& arguments);
// Returns the number that the command line gives after `--rank`, if there is one. Pure.
std::optional<int> RankOf(const std::vector<std::string>& arguments);

std::string FormatProcessRecord(const ProcessRecord& record);
// INVALID_ARGUMENT when `json` is not what FormatProcessRecord makes.
absl::StatusOr<ProcessRecord> ParseProcessRecord(absl::string_view json);

// The folder of one job's records.
class ProcessRecords {
 public:
  // `path` of the folder, which the first Write makes. Empty: writes are forgotten.
  explicit ProcessRecords(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Readers never see a part of it. One file for each name and supervisor.
  absl::Status Write(const ProcessRecord& record) const;
  // Removes the record, and the folder after the last one.
  void Remove(const ProcessRecord& record) const;
  // Returns the records whose supervisor lives, in the order of their names. Files that are no record are passed over.
  std::vector<ProcessRecord> ReadAll() const;

 private:
  std::string FileOf(const ProcessRecord& record) const;

  std::string path_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_SUPERVISION_PROCESS_RECORD_H_
