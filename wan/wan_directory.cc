#include "wan/wan_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

bool IsOwnDirectory(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// Returns a lock of the whole file. The lock belongs to the descriptor that it is set through and to copies of it. So a
// process which looks at its own lock through another descriptor sees it. Closing that descriptor does not end the
// lock.
struct flock WholeFileLock() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

absl::Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path));
}

}  // namespace

std::string DefaultWanDirectory() {
  const uid_t user = geteuid();
  if (user == 0) return "/run/banyan-wan";
  const std::string runtime = absl::StrCat("/run/user/", user);
  if (IsOwnDirectory(runtime)) return runtime + "/banyan-wan";
  return absl::StrCat("/tmp/banyan-wan-", user);
}

absl::Status WanDirectory::Make() const {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the directory ", path_, "; choose another by --dir"));
  }
  if (IsOwnDirectory(path_)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("expected ", path_, " to be a directory of this user's; choose another by --dir"));
}

absl::StatusOr<FileDescriptor> WanDirectory::Lock() const {
  FileDescriptor lock(open(lock_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", lock_path()));
  struct flock whole = WholeFileLock();
  if (fcntl(lock.get(), F_OFD_SETLK, &whole) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", lock_path()));
  return absl::AlreadyExistsError(absl::StrCat("another process holds ", lock_path()));
}

bool WanDirectory::IsLocked() const {
  const FileDescriptor lock(open(lock_path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct flock whole = WholeFileLock();
  return lock.valid() && fcntl(lock.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

absl::StatusOr<std::optional<WanStatus>> WanDirectory::ReadState() const {
  std::ifstream file(state_path());
  if (!file) return std::nullopt;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  absl::StatusOr<WanStatus> status = ParseWanStatus(text);
  if (status.ok()) return *std::move(status);
  return absl::Status(status.status().code(), absl::StrCat(state_path(), ": ", status.status().message()));
}

absl::Status WanDirectory::WriteState(const WanStatus& status) const {
  std::ofstream hosts(hosts_path(), std::ios::trunc);
  hosts << "127.0.0.1 localhost\n";
  for (const WanStatus::Node& node : status.nodes) hosts << node.address << " " << node.name << "\n";
  hosts.close();
  const std::string next = state_path() + ".next";
  std::ofstream file(next, std::ios::trunc);
  file << WanStatusJson(status, "dead") << "\n";
  file.close();
  if (hosts && file && std::rename(next.c_str(), state_path().c_str()) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write ", state_path(), "; is the disk full?"));
}

absl::Status WanDirectory::Remove() const {
  for (const std::string& path :
       {state_path() + ".next", state_path(), hosts_path(), socket_path(), log_path(), lock_path()}) {
    if (const absl::Status status = RemoveFile(path); !status.ok()) return status;
  }
  std::error_code error;
  std::filesystem::remove_all(processes_path(), error);
  if (rmdir(path_.c_str()) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path_));
}

}  // namespace banyan
