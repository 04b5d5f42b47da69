// The file in which a core's records survive the process: appended, checksummed, and forced to the disk in groups by a
// thread of its own. Each record is a 4-byte length and an 8-byte XXH64 of length and bytes, all little-endian, then
// the bytes.
//
// Thread-safe. A process holds the file's lock while it has it open.
#ifndef BANYAN_RUNTIME_RECORD_LOG_H_
#define BANYAN_RUNTIME_RECORD_LOG_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"
#include "posix/file_descriptor.h"

namespace banyan {

struct RecordLogContents {
  std::vector<std::string> records;  // oldest first
  std::string warning;               // what was damaged and where it went; empty when nothing was
};

class RecordLog {
 public:
  // On the log's thread: the records up to this one would survive a loss of power.
  using Persisted = std::function<void(RecordId)>;
  // On the log's thread, once: writing failed, no further record will be persisted.
  using Failed = std::function<void(absl::Status)>;

  // Opens or makes `directory`/records.log and gives what it holds. A crash may have cut off the file in the middle of
  // a record. That end is then moved to records.log.damaged, and the warning says so. Errors name the file.
  static absl::StatusOr<std::unique_ptr<RecordLog>> Open(const std::string& directory, RecordLogContents& contents,
                                                         Persisted persisted, Failed failed);
  RecordLog(FileDescriptor file, std::string path, Persisted persisted, Failed failed);
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;
  // Writes what was appended, then ends.
  ~RecordLog();

  void Append(RecordId record, const std::string& bytes);

 private:
  struct Batch {
    std::string bytes;
    std::vector<RecordId> records;
  };

  void Work();
  absl::Status Write(const Batch& batch);

  const FileDescriptor file_;
  const std::string path_;
  const Persisted persisted_;
  const Failed failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Batch waiting_;          // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORD_LOG_H_
