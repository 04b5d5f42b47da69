// Memory as the storage of a core's records, for simulated processes: what it points to outlives them.
// Thread-compatible.
#ifndef BANYAN_SIM_PROCESSES_MEMORY_RECORD_STORE_H_
#define BANYAN_SIM_PROCESSES_MEMORY_RECORD_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/record_store.h"

namespace banyan {

class MemoryRecordStore : public RecordStore {
 public:
  // `memory` must outlive this.
  explicit MemoryRecordStore(StoredRecords* memory) : memory_(memory) {}

  absl::StatusOr<StoredRecords> Open() override { return *memory_; }
  absl::Status Append(const std::vector<std::string>& records) override {
    memory_->tail.insert(memory_->tail.end(), records.begin(), records.end());
    return absl::OkStatus();
  }
  absl::Status Replace(const std::string& snapshot) override {
    *memory_ = StoredRecords{snapshot, {}, ""};
    return absl::OkStatus();
  }

 private:
  StoredRecords* memory_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_MEMORY_RECORD_STORE_H_
