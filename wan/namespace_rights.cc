#include "wan/namespace_rights.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

constexpr char kAdvice[] =
    "; run it as root, or let users make namespaces: sysctl kernel.unprivileged_userns_clone=1 (where there is such a "
    "setting), user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0; in a container give "
    "it CAP_SYS_ADMIN and CAP_NET_ADMIN";

// A thread tries, so that the process stays where it is.
bool MayMakeNetworkNamespaces() {
  bool may = false;
  std::thread([&may] { may = unshare(CLONE_NEWNET) == 0; }).join();
  return may;
}

absl::Status Denied(const std::string& what, int error) {
  return absl::PermissionDeniedError(
      absl::StrCat("this user may not make network namespaces: ", what, ": ", std::strerror(error), kAdvice));
}

absl::Status WriteFile(const char* path, const std::string& text) {
  const FileDescriptor file(open(path, O_WRONLY | O_CLOEXEC));
  if (!file.valid() || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Denied(absl::StrCat("cannot write ", path), errno);
  }
  return absl::OkStatus();
}

}  // namespace

ParentDeathKeeper::ParentDeathKeeper() : parent_(getppid()) { prctl(PR_GET_PDEATHSIG, &signal_); }

ParentDeathKeeper::~ParentDeathKeeper() {
  if (signal_ == 0) return;
  prctl(PR_SET_PDEATHSIG, signal_);
  // The parent may have ended before the line above.
  if (getppid() != parent_) raise(signal_);
}

absl::Status GainNamespaceRights() {
  if (MayMakeNetworkNamespaces()) return absl::OkStatus();
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const ParentDeathKeeper keeper;
  if (unshare(CLONE_NEWUSER) != 0) return Denied("cannot make a user namespace", errno);
  if (const absl::Status status = WriteFile("/proc/self/setgroups", "deny"); !status.ok()) return status;
  if (const absl::Status status = WriteFile("/proc/self/uid_map", absl::StrCat("0 ", user, " 1")); !status.ok()) {
    return status;
  }
  if (const absl::Status status = WriteFile("/proc/self/gid_map", absl::StrCat("0 ", group, " 1")); !status.ok()) {
    return status;
  }
  if (!MayMakeNetworkNamespaces()) return Denied("not even in a user namespace", EPERM);
  return absl::OkStatus();
}

}  // namespace banyan
