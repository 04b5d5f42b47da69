// Stable storage for what a core makes durable: a snapshot, and the records that came after it. Pure interface; its
// implementations are a directory, etcd and, in simulations, memory.
//
// Thread-compatible; calls may block. Owned by one writer, who opens it once and calls nothing after an error.
//
// Invariants:
// - A crash at any point leaves the calls that have returned, and of the one under way all or nothing.
#ifndef BANYAN_PROTOCOL_RECORD_STORE_H_
#define BANYAN_PROTOCOL_RECORD_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace banyan {

struct StoredRecords {
  std::string snapshot;           // empty before the first
  std::vector<std::string> tail;  // oldest first
  std::string warning;            // what was damaged and where it went; empty when nothing was
  friend bool operator==(const StoredRecords&, const StoredRecords&) = default;
};

class RecordStore {
 public:
  virtual ~RecordStore() = default;

  // Takes hold of the storage, and returns what it holds. DATA_LOSS says what is damaged, where, and what to do;
  // FAILED_PRECONDITION, of any call, that another process holds it; ABORTED, that this process leads no more.
  virtual absl::StatusOr<StoredRecords> Open() = 0;
  // Adds the records in their order. They would survive a loss of power when it returns.
  virtual absl::Status Append(const std::vector<std::string>& records) = 0;
  // Puts the snapshot in the place of all that is stored.
  virtual absl::Status Replace(const std::string& snapshot) = 0;
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_RECORD_STORE_H_
