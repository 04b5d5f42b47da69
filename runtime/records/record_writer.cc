#include "runtime/records/record_writer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace banyan {
namespace {

// More than this is written in several batches.
constexpr size_t kBatchBytes = size_t{16} << 20;

}  // namespace

RecordWriter::RecordWriter(std::unique_ptr<RecordStore> store, Persisted persisted, Failed failed)
    : store_(std::move(store)), persisted_(std::move(persisted)), failed_(std::move(failed)) {
  thread_ = std::thread([this] { Work(); });
}

RecordWriter::~RecordWriter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RecordWriter::Write(PersistRecord record) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (record.is_snapshot) {
      for (PersistRecord& replaced : waiting_) replaced.bytes = std::string();
    }
    waiting_.push_back(std::move(record));
  }
  changed_.notify_one();
}

absl::Status RecordWriter::Store(std::vector<PersistRecord> records) {
  // A snapshot takes the place of all before it.
  const auto snapshot = std::find_if(records.rbegin(), records.rend(), [](const auto& any) { return any.is_snapshot; });
  size_t next = snapshot == records.rend() ? 0 : static_cast<size_t>(records.rend() - snapshot) - 1;
  for (size_t first = 0; next < records.size(); first = next) {
    absl::Status status;
    if (records[next].is_snapshot) {
      status = store_->Replace(records[next++].bytes);
    } else {
      std::vector<std::string> batch;
      for (size_t bytes = 0; next < records.size() && !records[next].is_snapshot && bytes < kBatchBytes; ++next) {
        bytes += records[next].bytes.size();
        batch.push_back(std::move(records[next].bytes));
      }
      status = store_->Append(batch);
    }
    if (!status.ok()) return status;
    for (size_t i = first; i < next; ++i) persisted_(records[i].record);
  }
  return absl::OkStatus();
}

void RecordWriter::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::vector<PersistRecord> records = std::exchange(waiting_, {});
    lock.unlock();
    if (absl::Status status = Store(std::move(records)); !status.ok()) {
      failed_(status);
      return;
    }
    lock.lock();
  }
}

}  // namespace banyan
