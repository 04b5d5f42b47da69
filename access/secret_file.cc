#include "access/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

constexpr size_t kMostBytes = 4096;
constexpr size_t kLeastTokenBytes = 16;
constexpr size_t kMostTokenBytes = 512;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

absl::Status Unreadable(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be read"));
}

// Whether this process is of that group.
bool HasGroup(gid_t group) {
  if (group == getegid()) return true;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  if (getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return false;
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

absl::Status CheckOwner(const std::string& path, const struct stat& facts, absl::string_view what) {
  if (!S_ISREG(facts.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is no file"));
  if (facts.st_uid != geteuid() && facts.st_uid != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": expected ", what, " of this user or of root, and user ", facts.st_uid, " owns it"));
  }
  if ((facts.st_mode & kOthers) == 0) return absl::OkStatus();
  // As Kubernetes hands a secret to the group of a pod (fsGroup).
  const bool is_handed = facts.st_uid == 0 && (facts.st_mode & (kOthers & ~S_IRGRP)) == 0 && HasGroup(facts.st_gid);
  if (is_handed) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrFormat("%s: expected %s that its owner alone may read, or that is root's and its group, one of this "
                      "process, may read; got mode %04o of user %d and group %d; `chmod 600 %s`, or make a new one",
                      path, what, facts.st_mode & 07777, facts.st_uid, facts.st_gid, path));
}

bool IsOfToken(char letter) {
  constexpr absl::string_view kOthersOfToken = "-._~+/=";
  return absl::ascii_isalnum(static_cast<unsigned char>(letter)) ||
         kOthersOfToken.find(letter) != absl::string_view::npos;
}

}  // namespace

absl::StatusOr<std::string> ReadSecretFile(const std::string& path, absl::string_view what) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return Unreadable(path, errno);
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) return Unreadable(path, errno);
  if (absl::Status status = CheckOwner(path, facts, what); !status.ok()) return status;
  std::string text(kMostBytes + 1, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  if (got < 0) return Unreadable(path, errno);
  if (static_cast<size_t>(got) > kMostBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not ", what, ", but longer than ", kMostBytes, " bytes"));
  }
  text.resize(static_cast<size_t>(got));
  constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin a file with it
  if (absl::StartsWith(text, kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSecretFile(path, "a token");
  if (!text.ok()) return text;
  const std::string token(absl::StripAsciiWhitespace(*text));
  if (token.size() >= kLeastTokenBytes && token.size() <= kMostTokenBytes &&
      std::all_of(token.begin(), token.end(), IsOfToken)) {
    return token;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected one token of ", kLeastTokenBytes, " to ", kMostTokenBytes,
                   " letters, digits and - . _ ~ + / =; `openssl rand -hex 32` makes one"));
}

}  // namespace banyan
