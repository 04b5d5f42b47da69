// Hands a core's records to a store on a thread of its own, so that a slow disk holds up nothing else. What has come
// together meanwhile is made durable at once.
//
// Invariants:
// - Records before a snapshot that have not gone to the store never do: it takes their place. So what waits is a
//   snapshot at most and the records since, of which the core makes the next snapshot when they outgrow it.
//
// Thread-safe. Owns the store.
#ifndef BANYAN_RUNTIME_RECORDS_RECORD_WRITER_H_
#define BANYAN_RUNTIME_RECORDS_RECORD_WRITER_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "protocol/action.h"
#include "protocol/record_store.h"

namespace banyan {

class RecordWriter {
 public:
  // On the writer's thread: the records up to this one would survive a loss of power.
  using Persisted = std::function<void(RecordId)>;
  // On the writer's thread, once: writing failed, no further record will be persisted.
  using Failed = std::function<void(absl::Status)>;

  // REQUIRES: the store is open.
  RecordWriter(std::unique_ptr<RecordStore> store, Persisted persisted, Failed failed);
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  // Writes what was handed in, then ends.
  ~RecordWriter();

  void Write(PersistRecord record);

 private:
  void Work();
  // Makes all of them durable, in order, and says so.
  absl::Status Store(std::vector<PersistRecord> records);

  const std::unique_ptr<RecordStore> store_;
  const Persisted persisted_;
  const Failed failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PersistRecord> waiting_;  // guarded by mutex_
  bool stopping_ = false;               // guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORDS_RECORD_WRITER_H_
