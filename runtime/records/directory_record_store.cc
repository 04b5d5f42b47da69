#include "runtime/records/directory_record_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/records/durable_file.h"
#include "runtime/records/record_format.h"

namespace banyan {
namespace {

constexpr absl::string_view kSnapshotPrefix = "snapshot-";
constexpr absl::string_view kLogPrefix = "log-";
constexpr absl::string_view kNewSuffix = ".new";
constexpr absl::string_view kOldLog = "records.log";
// An old log comes over in batches of about this size.
constexpr size_t kConvertedBatchBytes = size_t{1} << 20;

std::optional<uint64_t> NumberAfter(absl::string_view prefix, absl::string_view name) {
  uint64_t number = 0;
  if (!absl::ConsumePrefix(&name, prefix) || !absl::SimpleAtoi(name, &number)) return std::nullopt;
  return number;
}

absl::Status WithAdvice(const absl::Status& damage, absl::string_view path) {
  return absl::Status(damage.code(),
                      absl::StrCat(path, ": ", damage.message(),
                                   "; bring the directory back from a copy, or move it away to begin a new job"));
}

absl::Status Missing(absl::string_view path, absl::string_view because) {
  return WithAdvice(absl::DataLossError(absl::StrCat("byte 0: the file is missing, though there is ", because)), path);
}

// Makes `path`.damaged, or one with a number that is not there yet.
absl::StatusOr<std::string> KeepAside(const std::string& path, absl::string_view bytes) {
  for (int number = 1;; ++number) {
    const std::string aside = number == 1 ? path + ".damaged" : absl::StrCat(path, ".damaged-", number);
    const absl::StatusOr<FileDescriptor> file = OpenFile(aside, O_WRONLY | O_CREAT | O_EXCL);
    if (absl::IsAlreadyExists(file.status())) continue;
    if (!file.ok()) return file.status();
    absl::Status status = AppendDurably(file->get(), bytes, aside);
    if (status.ok()) return aside;
    unlink(aside.c_str());  // a part of it would only take up room
    return status;
  }
}

std::string TornEndWarning(const std::string& path, size_t records, size_t torn_bytes, const std::string& aside) {
  return absl::StrCat(path, ": after ", records, " whole records the last ", torn_bytes,
                      " bytes are damaged, as after a crash in the middle of a write; they are now in ", aside);
}

// Reads the log of a version that had no snapshots.
absl::StatusOr<StoredRecords> ReadOldLog(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<LogContents> contents = DecodeOldLog(*bytes);
  if (!contents.ok()) return WithAdvice(contents.status(), path);
  StoredRecords stored;
  stored.tail = std::move(contents->records);
  const absl::string_view torn = absl::string_view(*bytes).substr(contents->whole_bytes);
  if (torn.empty()) return stored;
  const absl::StatusOr<std::string> aside = KeepAside(path, torn);
  if (!aside.ok()) return aside.status();
  stored.warning = TornEndWarning(path, stored.tail.size(), torn.size(), *aside);
  return stored;
}

}  // namespace

std::string DirectoryRecordStore::PathOf(absl::string_view name) const { return absl::StrCat(directory_, "/", name); }

std::string DirectoryRecordStore::SnapshotPath(uint64_t generation) const {
  return PathOf(absl::StrCat(kSnapshotPrefix, generation));
}

std::string DirectoryRecordStore::LogPath(uint64_t generation) const {
  return PathOf(absl::StrCat(kLogPrefix, generation));
}

absl::StatusOr<StoredRecords> DirectoryRecordStore::Open() {
  if (absl::Status status = Lock(); !status.ok()) return status;
  const absl::StatusOr<Generations> found = FindGenerations();
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckLogs(*found); !status.ok()) return status;
  absl::StatusOr<StoredRecords> stored =
      found->snapshots.empty() ? BeginFirstGeneration(found->has_old_log) : ReadGeneration(*found->snapshots.rbegin());
  if (!stored.ok()) return stored;
  if (absl::Status status = RemoveOthers(*found); !status.ok()) return status;
  return stored;
}

absl::Status DirectoryRecordStore::Lock() {
  if (absl::Status status = MakeDirectory(directory_); !status.ok()) return status;
  const std::string path = PathOf("lock");
  absl::StatusOr<FileDescriptor> file = OpenFile(path, O_RDWR | O_CREAT);
  if (!file.ok()) return file.status();
  if (flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileError("lock", path);
    const absl::StatusOr<std::string> holder = ReadFile(path);
    int pid = 0;
    const bool is_known = holder.ok() && absl::SimpleAtoi(*holder, &pid);
    return absl::FailedPreconditionError(absl::StrCat(directory_, " is in use by ",
                                                      is_known ? absl::StrCat("process ", pid) : "another process",
                                                      "; stop it or choose another directory"));
  }
  lock_ = *std::move(file);
  // For whoever finds it locked.
  if (ftruncate(lock_.get(), 0) != 0) return FileError("shorten", path);
  if (absl::Status status = WriteWhole(lock_.get(), absl::StrCat(getpid(), "\n"), path); !status.ok()) return status;
  return absl::OkStatus();
}

absl::StatusOr<DirectoryRecordStore::Generations> DirectoryRecordStore::FindGenerations() const {
  const absl::StatusOr<std::vector<std::string>> names = ListDirectory(directory_);
  if (!names.ok()) return names.status();
  Generations found;
  for (const std::string& name : *names) {
    if (const auto snapshot = NumberAfter(kSnapshotPrefix, name)) found.snapshots.insert(*snapshot);
    if (const auto log = NumberAfter(kLogPrefix, name)) found.logs.insert(*log);
    if (name == kOldLog) found.has_old_log = true;
  }
  return found;
}

absl::Status DirectoryRecordStore::CheckLogs(const Generations& found) const {
  const uint64_t newest = found.snapshots.empty() ? 0 : *found.snapshots.rbegin();
  for (const uint64_t log : found.logs) {
    if (log <= newest) continue;
    const absl::StatusOr<std::string> bytes = ReadFile(LogPath(log));
    if (!bytes.ok()) return bytes.status();
    // A crash leaves at most the log of the next generation, which is empty unless it was made of an old log.
    const bool may_be_unfinished = bytes->size() <= LogHeadBytes() || (newest == 0 && found.has_old_log);
    if (log > newest + 1 || !may_be_unfinished) return Missing(SnapshotPath(log), LogPath(log));
  }
  if (newest > 0 && found.logs.count(newest) == 0) return Missing(LogPath(newest), SnapshotPath(newest));
  return absl::OkStatus();
}

absl::StatusOr<StoredRecords> DirectoryRecordStore::ReadGeneration(uint64_t generation) {
  StoredRecords stored;
  const std::string snapshot_path = SnapshotPath(generation);
  const absl::StatusOr<std::string> snapshot_bytes = ReadFile(snapshot_path);
  if (!snapshot_bytes.ok()) return snapshot_bytes.status();
  absl::StatusOr<std::string> snapshot = DecodeSnapshotFile(*snapshot_bytes, generation);
  if (!snapshot.ok()) return WithAdvice(snapshot.status(), snapshot_path);
  stored.snapshot = *std::move(snapshot);

  const std::string path = LogPath(generation);
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<LogContents> contents = DecodeLog(*bytes, generation);
  if (!contents.ok()) return WithAdvice(contents.status(), path);
  stored.tail = std::move(contents->records);
  absl::StatusOr<FileDescriptor> log = OpenFile(path, O_WRONLY | O_APPEND);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  generation_ = generation;
  log_bytes_ = contents->whole_bytes;
  const absl::string_view torn = absl::string_view(*bytes).substr(log_bytes_);
  if (torn.empty()) return stored;
  const absl::StatusOr<std::string> aside = CutOff(torn);
  if (!aside.ok()) return aside.status();
  stored.warning = TornEndWarning(path, stored.tail.size(), torn.size(), *aside);
  return stored;
}

absl::StatusOr<std::string> DirectoryRecordStore::CutOff(absl::string_view torn) {
  const std::string path = LogPath(generation_);
  absl::StatusOr<std::string> aside = KeepAside(path, torn);
  if (!aside.ok()) return aside;
  if (absl::Status status = SyncDirectory(directory_); !status.ok()) return status;
  if (ftruncate(log_.get(), static_cast<off_t>(log_bytes_)) != 0 || fsync(log_.get()) != 0) {
    return FileError("shorten", path);
  }
  return aside;
}

absl::StatusOr<StoredRecords> DirectoryRecordStore::BeginFirstGeneration(bool has_old_log) {
  absl::StatusOr<StoredRecords> stored = has_old_log ? ReadOldLog(PathOf(kOldLog)) : StoredRecords();
  if (!stored.ok()) return stored;
  if (absl::Status status = BeginGeneration(1, "", stored->tail); !status.ok()) return status;
  return stored;
}

absl::Status DirectoryRecordStore::BeginGeneration(uint64_t generation, const std::string& snapshot,
                                                   const std::vector<std::string>& records) {
  std::string log_bytes = EncodeLogHead(generation);
  for (size_t next = 0; next < records.size();) {
    std::vector<std::string> batch;
    for (size_t bytes = 0; next < records.size() && bytes < kConvertedBatchBytes; ++next) {
      bytes += records[next].size();
      batch.push_back(records[next]);
    }
    log_bytes += EncodeBatch(batch, generation, log_bytes.size());
  }
  const std::string log_path = LogPath(generation);
  const std::string snapshot_path = SnapshotPath(generation);
  const std::string new_path = absl::StrCat(snapshot_path, kNewSuffix);
  absl::Status status = WriteDurably(log_path, log_bytes);
  if (status.ok()) status = WriteDurably(new_path, EncodeSnapshotFile(snapshot, generation));
  if (status.ok()) status = SyncDirectory(directory_);
  if (status.ok()) status = Rename(new_path, snapshot_path);
  if (status.ok()) status = SyncDirectory(directory_);
  if (!status.ok()) return status;
  absl::StatusOr<FileDescriptor> log = OpenFile(log_path, O_WRONLY | O_APPEND);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  log_bytes_ = log_bytes.size();
  generation_ = generation;
  return absl::OkStatus();
}

absl::Status DirectoryRecordStore::RemoveOthers(const Generations& found) const {
  absl::Status status = RemoveFile(PathOf(kOldLog));
  for (const uint64_t snapshot : found.snapshots) {
    if (status.ok() && snapshot != generation_) status = RemoveFile(SnapshotPath(snapshot));
  }
  for (const uint64_t log : found.logs) {
    if (status.ok() && log != generation_) status = RemoveFile(LogPath(log));
  }
  const std::string unfinished = absl::StrCat(SnapshotPath(generation_ + 1), kNewSuffix);
  return status.ok() ? RemoveFile(unfinished) : status;
}

absl::Status DirectoryRecordStore::Append(const std::vector<std::string>& records) {
  const std::string batch = EncodeBatch(records, generation_, log_bytes_);
  const std::string path = LogPath(generation_);
  absl::Status status = AppendDurably(log_.get(), batch, path);
  if (status.ok()) {
    log_bytes_ += batch.size();
  } else if (ftruncate(log_.get(), static_cast<off_t>(log_bytes_)) != 0) {
    // A part of the batch is of no use, and a full disk has no room to keep it aside.
    return absl::Status(status.code(), absl::StrCat(status.message(), ", and a part of a record stays in the file"));
  }
  return status;
}

absl::Status DirectoryRecordStore::Replace(const std::string& snapshot) {
  const uint64_t former = generation_;
  if (absl::Status status = BeginGeneration(former + 1, snapshot, {}); !status.ok()) return status;
  if (absl::Status status = RemoveFile(SnapshotPath(former)); !status.ok()) return status;
  return RemoveFile(LogPath(former));
}

}  // namespace banyan
