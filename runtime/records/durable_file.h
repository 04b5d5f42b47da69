// Files that survive a loss of power: thin functions over system calls. Errors name the file. Thread-compatible.
#ifndef BANYAN_RUNTIME_RECORDS_DURABLE_FILE_H_
#define BANYAN_RUNTIME_RECORDS_DURABLE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"

namespace banyan {

// Returns the error of the last system call, which failed while `doing` something with `path`.
absl::Status FileError(absl::string_view doing, absl::string_view path);

// Makes the directory, for this user alone, and those around it, all of whose names survive a loss of power; one that
// is there is no error.
absl::Status MakeDirectory(const std::string& path);
// Opens `path` with these flags of open(2), and makes it for this user alone if O_CREAT is among them.
absl::StatusOr<FileDescriptor> OpenFile(const std::string& path, int flags);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Writes all bytes where the file stands.
absl::Status WriteWhole(int fd, absl::string_view bytes, const std::string& path);
// Writes all bytes, and forces them to the disk. The file is open for appending.
absl::Status AppendDurably(int fd, absl::string_view bytes, const std::string& path);
// Makes a file of these bytes, whatever was there, and forces it to the disk. Its name survives with SyncDirectory.
absl::Status WriteDurably(const std::string& path, absl::string_view bytes);
// Forces new, renamed and removed names to the disk.
absl::Status SyncDirectory(const std::string& directory);
absl::Status Rename(const std::string& from, const std::string& to);
// Removes the file; one that is not there is no error.
absl::Status RemoveFile(const std::string& path);
// Returns the names in the directory, in order.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& directory);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORDS_DURABLE_FILE_H_
