// A directory as the storage of a core's records: `snapshot-N`, and `log-N` with what came after it. Each snapshot
// begins the next generation N and takes the place of the one before.
//
// Thread-compatible. A process holds the lock of the directory's file `lock` while it has the store open.
//
// Invariants:
// - The newest snapshot-N names the generation, and log-N is durable before it. The rename of the snapshot is the
//   moment at which a generation begins: before it the older one counts, after it the newer one.
// - An older generation is removed only after that; so is what a crash has left of a younger one.
// - Nothing that is damaged is removed: the torn end of a log is kept aside, and worse damage stays as it is.
#ifndef BANYAN_RUNTIME_RECORDS_DIRECTORY_RECORD_STORE_H_
#define BANYAN_RUNTIME_RECORDS_DIRECTORY_RECORD_STORE_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"
#include "protocol/record_store.h"

namespace banyan {

class DirectoryRecordStore : public RecordStore {
 public:
  // Open makes the directory, and those around it, if it is not there.
  explicit DirectoryRecordStore(std::string directory) : directory_(std::move(directory)) {}

  absl::StatusOr<StoredRecords> Open() override;
  absl::Status Append(const std::vector<std::string>& records) override;
  absl::Status Replace(const std::string& snapshot) override;

 private:
  // The generations of which there is a snapshot, a log.
  struct Generations {
    std::set<uint64_t> snapshots;
    std::set<uint64_t> logs;
    bool has_old_log = false;  // of a version that had no snapshots
  };

  std::string PathOf(absl::string_view name) const;
  std::string SnapshotPath(uint64_t generation) const;
  std::string LogPath(uint64_t generation) const;

  absl::Status Lock();
  absl::StatusOr<Generations> FindGenerations() const;
  // DATA_LOSS names a log whose snapshot is gone.
  absl::Status CheckLogs(const Generations& found) const;
  absl::StatusOr<StoredRecords> ReadGeneration(uint64_t generation);
  // Cuts off what a crash has left of the last batch, and returns the path where it is kept aside.
  absl::StatusOr<std::string> CutOff(absl::string_view torn);
  // Makes the first generation of the old log, if there is one.
  absl::StatusOr<StoredRecords> BeginFirstGeneration(bool has_old_log);
  // Makes a generation of a snapshot and records, and removes the one before.
  absl::Status BeginGeneration(uint64_t generation, const std::string& snapshot,
                               const std::vector<std::string>& records);
  absl::Status RemoveOthers(const Generations& found) const;

  const std::string directory_;
  FileDescriptor lock_;
  uint64_t generation_ = 0;
  FileDescriptor log_;
  size_t log_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORDS_DIRECTORY_RECORD_STORE_H_
