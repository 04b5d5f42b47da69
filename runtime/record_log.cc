#include "runtime/record_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr uint32_t kMaxRecordBytes = uint32_t{1} << 30;

absl::Status FileError(absl::string_view doing, absl::string_view path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", doing, " ", path));
}

template <typename Integer>
void AppendLittleEndian(Integer value, std::string& to) {
  for (size_t i = 0; i < sizeof(Integer); ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}

template <typename Integer>
Integer ReadLittleEndian(absl::string_view bytes) {
  Integer value = 0;
  for (size_t i = 0; i < sizeof(Integer); ++i) value |= Integer{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

uint64_t Checksum(absl::string_view length, absl::string_view bytes) {
  return XXH64(bytes.data(), bytes.size(), XXH64(length.data(), length.size(), 0));
}

absl::StatusOr<std::string> ReadWhole(int fd, absl::string_view path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return FileError("look at", path);
  std::string bytes(info.st_size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = pread(fd, bytes.data() + done, bytes.size() - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path);
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

absl::Status WriteWhole(int fd, absl::string_view bytes, absl::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write", path);
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

// Takes the whole records at the front of `bytes` and returns their size.
size_t ReadRecords(absl::string_view bytes, std::vector<std::string>& records) {
  size_t position = 0;
  while (bytes.size() - position >= kHeaderBytes) {
    const absl::string_view header = bytes.substr(position, kHeaderBytes);
    const uint32_t length = ReadLittleEndian<uint32_t>(header);
    if (length > kMaxRecordBytes || length > bytes.size() - position - kHeaderBytes) break;
    const absl::string_view record = bytes.substr(position + kHeaderBytes, length);
    if (Checksum(header.substr(0, 4), record) != ReadLittleEndian<uint64_t>(header.substr(4))) break;
    records.emplace_back(record);
    position += kHeaderBytes + length;
  }
  return position;
}

absl::Status MoveDamagedEnd(int fd, absl::string_view path, absl::string_view end, size_t whole) {
  const std::string damaged = absl::StrCat(path, ".damaged");
  FileDescriptor file(open(damaged.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return FileError("create", damaged);
  if (absl::Status status = WriteWhole(file.get(), end, damaged); !status.ok()) return status;
  if (ftruncate(fd, whole) != 0 || fsync(fd) != 0) return FileError("shorten", path);
  return absl::OkStatus();
}

// A new file survives a loss of power only when its directory does.
absl::Status SyncDirectory(const std::string& directory) {
  FileDescriptor file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) return FileError("sync", directory);
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> OpenLocked(const std::string& directory, const std::string& path) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return FileError("create the directory", directory);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return FileError("open", path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileError("lock", path);
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is in use by another process; stop it or choose another directory"));
  }
  if (absl::Status status = SyncDirectory(directory); !status.ok()) return status;
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordLog>> RecordLog::Open(const std::string& directory, RecordLogContents& contents,
                                                           Persisted persisted, Failed failed) {
  const std::string path = absl::StrCat(directory, "/records.log");
  absl::StatusOr<FileDescriptor> file = OpenLocked(directory, path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> bytes = ReadWhole(file->get(), path);
  if (!bytes.ok()) return bytes.status();
  const size_t whole = ReadRecords(*bytes, contents.records);
  if (whole < bytes->size()) {
    const absl::string_view end = absl::string_view(*bytes).substr(whole);
    if (absl::Status status = MoveDamagedEnd(file->get(), path, end, whole); !status.ok()) return status;
    contents.warning = absl::StrCat(path, ": after ", contents.records.size(), " whole records the last ", end.size(),
                                    " bytes are damaged, as after a crash in the middle of a write; they are now in ",
                                    path, ".damaged");
  }
  return std::make_unique<RecordLog>(*std::move(file), path, std::move(persisted), std::move(failed));
}

RecordLog::RecordLog(FileDescriptor file, std::string path, Persisted persisted, Failed failed)
    : file_(std::move(file)), path_(std::move(path)), persisted_(std::move(persisted)), failed_(std::move(failed)) {
  thread_ = std::thread([this] { Work(); });
}

RecordLog::~RecordLog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RecordLog::Append(RecordId record, const std::string& bytes) {
  BANYAN_CHECK(bytes.size() <= kMaxRecordBytes);
  std::string length;
  AppendLittleEndian(static_cast<uint32_t>(bytes.size()), length);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.bytes += length;
    AppendLittleEndian(Checksum(length, bytes), waiting_.bytes);
    waiting_.bytes += bytes;
    waiting_.records.push_back(record);
  }
  changed_.notify_one();
}

absl::Status RecordLog::Write(const Batch& batch) {
  if (absl::Status status = WriteWhole(file_.get(), batch.bytes, path_); !status.ok()) return status;
  if (fdatasync(file_.get()) != 0) return FileError("sync", path_);
  return absl::OkStatus();
}

void RecordLog::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.records.empty(); });
    if (waiting_.records.empty()) return;
    const Batch batch = std::exchange(waiting_, Batch());
    lock.unlock();
    if (absl::Status status = Write(batch); !status.ok()) {
      failed_(status);
      return;
    }
    for (RecordId record : batch.records) persisted_(record);
    lock.lock();
  }
}

}  // namespace banyan
