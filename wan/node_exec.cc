#include "wan/node_exec.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "topology/overlay/did_you_mean.h"
#include "wan/node_namespace.h"
#include "wan/wan_client.h"
#include "wan/wan_directory.h"
#include "wan/wan_processes.h"

namespace banyan {
namespace {

bool IsOwnUserNamespace(int other) {
  struct stat own_info, other_info;
  return stat("/proc/self/ns/user", &own_info) == 0 && fstat(other, &other_info) == 0 &&
         own_info.st_ino == other_info.st_ino && own_info.st_dev == other_info.st_dev;
}

absl::Status Enter(const WanClient& client, const std::string& node) {
  const absl::StatusOr<FileDescriptor> network = client.OpenNamespace(node);
  if (!network.ok()) return network.status();
  const ParentDeathSignalGuard keeper;
  if (const absl::Status entered = EnterUserNamespace(client); !entered.ok()) return entered;
  if (setns(network->get(), CLONE_NEWNET) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot enter node ", node, "; run it as the user who started it"));
  }
  return absl::OkStatus();
}

// As far as the system lets it: a program that needs names is rare.
void TakeNames(const std::string& node, const std::string& hosts_path) {
  if (unshare(CLONE_NEWUTS) != 0 || sethostname(node.data(), node.size()) != 0) return;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return;
  mount(hosts_path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr);
}

absl::StatusOr<WanStatus::Node> FindNode(const WanStatus& status, const std::string& name) {
  std::vector<std::string> names;
  for (const WanStatus::Node& node : status.nodes) {
    if (node.name == name || node.address == name) return node;
    names.push_back(node.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown node '", name, "'", DidYouMean(name, names)));
}

}  // namespace

absl::Status EnterUserNamespace(const WanClient& client) {
  const absl::StatusOr<FileDescriptor> user = client.OpenUserNamespace();
  if (!user.ok()) return user.status();
  if (IsOwnUserNamespace(user->get()) || setns(user->get(), CLONE_NEWUSER) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot enter the emulator's user namespace; run it as the user who started it");
}

absl::Status ExecInNode(const std::string& directory, const std::string& node,
                        const std::vector<std::string>& arguments) {
  const WanClient client(directory);
  const absl::StatusOr<WanStatus> status = client.Status();
  if (!status.ok()) return status.status();
  const absl::StatusOr<WanStatus::Node> found = FindNode(*status, node);
  if (!found.ok()) return found.status();
  if (const absl::Status entered = Enter(client, found->name); !entered.ok()) return entered;
  TakeNames(found->name, WanDirectory(directory).hosts_path());
  setenv(kWanIdVariable, status->id.c_str(), 1);
  setenv("BANYAN_WAN_NODE", found->name.c_str(), 1);
  setenv("BANYAN_WAN_ADDRESS", found->address.c_str(), 1);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot run ", arguments[0]));
}

// ---- sockets ----

absl::StatusOr<FileDescriptor> OpenSocketIn(const WanClient& client, const std::string& node, int type) {
  const absl::StatusOr<FileDescriptor> place = client.OpenNamespace(node);
  if (!place.ok()) return place.status();
  FileDescriptor made;
  int error = 0;
  // A namespace is a thread's.
  std::thread([&] {
    if (setns(place->get(), CLONE_NEWNET) == 0) made = FileDescriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0));
    error = errno;
  }).join();
  if (made.valid()) return made;
  return absl::ErrnoToStatus(
      error, absl::StrCat("cannot make a socket in node ", node, "; run it as the user who started the emulated WAN"));
}

absl::StatusOr<sockaddr_in> BindSocketTo(int socket, const std::string& address) {
  sockaddr_in own = {};
  own.sin_family = AF_INET;
  socklen_t size = sizeof(own);
  if (inet_pton(AF_INET, address.c_str(), &own.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("expected an IPv4 address, got '", address, "'"));
  }
  if (bind(socket, reinterpret_cast<sockaddr*>(&own), size) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot bind a socket to ", address));
  }
  return own;
}

}  // namespace banyan
