#include "runtime/records/durable_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

namespace fs = std::filesystem;

std::string FolderAround(const std::string& path) {
  const fs::path around = fs::path(path).parent_path();
  return around.empty() ? "." : around.string();
}

// Makes the directory, and those around it for everybody, and forces their names to the disk.
absl::Status MakeDirectories(const std::string& path, mode_t mode) {
  const std::string around = FolderAround(path);
  if (mkdir(path.c_str(), mode) == 0) return SyncDirectory(around);
  if (errno == EEXIST) return absl::OkStatus();
  if (errno != ENOENT || around == path) return FileError("create the directory", path);
  if (absl::Status made = MakeDirectories(around, 0777); !made.ok()) return made;
  if (mkdir(path.c_str(), mode) == 0) return SyncDirectory(around);
  return errno == EEXIST ? absl::OkStatus() : FileError("create the directory", path);
}

}  // namespace

absl::Status FileError(absl::string_view doing, absl::string_view path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", doing, " ", path));
}

absl::Status MakeDirectory(const std::string& path) {
  if (absl::Status made = MakeDirectories(path, 0700); !made.ok()) return made;
  // An earlier start may have ended between making it and this. Not every user may read what is around it.
  SyncDirectory(FolderAround(path)).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> OpenFile(const std::string& path, int flags) {
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file.valid()) return FileError((flags & O_CREAT) != 0 ? "create" : "open", path);
  return file;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  absl::StatusOr<FileDescriptor> file = OpenFile(path, O_RDONLY);
  if (!file.ok()) return file.status();
  struct stat info;
  if (fstat(file->get(), &info) != 0) return FileError("look at", path);
  std::string bytes(info.st_size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = pread(file->get(), bytes.data() + done, bytes.size() - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path);
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

absl::Status WriteWhole(int fd, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write", path);
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status AppendDurably(int fd, absl::string_view bytes, const std::string& path) {
  if (absl::Status status = WriteWhole(fd, bytes, path); !status.ok()) return status;
  return fdatasync(fd) == 0 ? absl::OkStatus() : FileError("sync", path);
}

absl::Status WriteDurably(const std::string& path, absl::string_view bytes) {
  const absl::StatusOr<FileDescriptor> file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.ok()) return file.status();
  return AppendDurably(file->get(), bytes, path);
}

absl::Status SyncDirectory(const std::string& directory) {
  const absl::StatusOr<FileDescriptor> file = OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (!file.ok()) return file.status();
  return fsync(file->get()) == 0 ? absl::OkStatus() : FileError("sync", directory);
}

absl::Status Rename(const std::string& from, const std::string& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : FileError("rename to", to);
}

absl::Status RemoveFile(const std::string& path) {
  return unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus() : FileError("remove", path);
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& directory) {
  DIR* open_directory = opendir(directory.c_str());
  if (open_directory == nullptr) return FileError("list", directory);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(open_directory)) names.emplace_back(entry->d_name);
  closedir(open_directory);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace banyan
