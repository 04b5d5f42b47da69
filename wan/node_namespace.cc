#include "wan/node_namespace.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "wan/offload_packet.h"

namespace banyan {
namespace {

constexpr uint32_t kNetwork = 10u << 24 | 99u << 16;
constexpr uint32_t kNetmask = 0xffff0000;
// What waits in the device until the forwarder reads; the queue of the link comes behind it.
constexpr int kDeviceQueuePackets = 10000;
// The kernel's own limits are too small for a long fast path.
constexpr char kReceiveBuffer[] = "4096 131072 33554432";
constexpr char kSendBuffer[] = "4096 65536 33554432";

absl::Status SystemError(absl::string_view what) { return absl::ErrnoToStatus(errno, absl::StrCat(what)); }

absl::StatusOr<FileDescriptor> OpenTun(const std::string& path) {
  FileDescriptor tun(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tun.valid()) return tun;
  if (errno == EACCES || errno == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat("expected to be allowed to open ", path, ", got: ", std::strerror(errno),
                     "; run it as root, or: chmod 0666 ", path, "; in a container: let it use the device"));
  }
  return absl::NotFoundError(absl::StrCat("expected a TUN device at ", path, ", got: ", std::strerror(errno),
                                          "; load the kernel's module: modprobe tun; in a container: --device ", path));
}

ifreq RequestFor(const char* device) {
  ifreq request = {};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  return request;
}

absl::Status AttachTun(int tun) {
  ifreq request = RequestFor(kWanDevice);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(tun, TUNSETIFF, &request) != 0) return SystemError("cannot make the TUN device");
  if (ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0) return SystemError("cannot set the device's offload");
  int header_bytes = sizeof(OffloadHeader);
  if (ioctl(tun, TUNSETVNETHDRSZ, &header_bytes) != 0) return SystemError("cannot set the device's header");
  return absl::OkStatus();
}

absl::Status BringUp(int socket, const char* device) {
  ifreq request = RequestFor(device);
  if (ioctl(socket, SIOCGIFFLAGS, &request) != 0) return SystemError(absl::StrCat("cannot read flags of ", device));
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) return SystemError(absl::StrCat("cannot start ", device));
  return absl::OkStatus();
}

absl::Status SetAddress(int socket, unsigned long command, uint32_t address) {
  ifreq request = RequestFor(kWanDevice);
  sockaddr_in value = {};
  value.sin_family = AF_INET;
  value.sin_addr.s_addr = htonl(address);
  std::memcpy(&request.ifr_addr, &value, sizeof(value));
  return ioctl(socket, command, &request) == 0 ? absl::OkStatus() : SystemError("cannot set the device's address");
}

// By rtnetlink: the ioctl for it is root's alone, even in a namespace of one's own.
absl::Status LengthenQueue() {
  struct {
    nlmsghdr header;
    ifinfomsg link;
    rtattr attribute;
    uint32_t packets;
  } request = {};
  request.header.nlmsg_len = sizeof(request);
  request.header.nlmsg_type = RTM_NEWLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.link.ifi_index = static_cast<int>(if_nametoindex(kWanDevice));
  request.attribute.rta_len = RTA_LENGTH(sizeof(request.packets));
  request.attribute.rta_type = IFLA_TXQLEN;
  request.packets = kDeviceQueuePackets;
  const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid() || send(socket.get(), &request, sizeof(request), 0) != sizeof(request)) {
    return SystemError("cannot ask for a longer queue");
  }
  struct {
    nlmsghdr header;
    nlmsgerr error;
    nlmsghdr cause;
  } answer = {};
  if (recv(socket.get(), &answer, sizeof(answer), 0) < 0) return SystemError("cannot ask for a longer queue");
  errno = -answer.error.error;
  return errno == 0 ? absl::OkStatus() : SystemError("cannot set the device's queue");
}

absl::Status ConfigureDevices(uint32_t address) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return SystemError("cannot make a socket");
  ifreq request = RequestFor(kWanDevice);
  request.ifr_mtu = kMtuBytes;
  if (ioctl(socket.get(), SIOCSIFMTU, &request) != 0) return SystemError("cannot set the device's MTU");
  absl::Status status = LengthenQueue();
  if (status.ok()) status = SetAddress(socket.get(), SIOCSIFADDR, address);
  if (status.ok()) status = SetAddress(socket.get(), SIOCSIFNETMASK, kNetmask);
  if (status.ok()) status = BringUp(socket.get(), "lo");
  if (status.ok()) status = BringUp(socket.get(), kWanDevice);
  return status;
}

absl::Status WriteSetting(absl::string_view name, absl::string_view value) {
  const std::string path = absl::StrCat("/proc/sys/net/", name);
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() && write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) {
    return absl::OkStatus();
  }
  return SystemError(absl::StrCat("cannot write '", value, "' to ", path));
}

// What a kernel may lack is left as it is: IPv6, and one day these settings.
absl::Status Tune(const NodeNamespaceOptions& options) {
  const std::string& congestion = options.congestion;
  WriteSetting("ipv6/conf/default/disable_ipv6", "1").IgnoreError();
  WriteSetting("ipv4/tcp_rmem", kReceiveBuffer).IgnoreError();
  WriteSetting("ipv4/tcp_wmem", kSendBuffer).IgnoreError();
  if (options.tso_rtt_log.has_value()) {
    WriteSetting("ipv4/tcp_tso_rtt_log", absl::StrCat(*options.tso_rtt_log)).IgnoreError();
  }
  // What one connection has learned must not change how the next one begins.
  WriteSetting("ipv4/tcp_no_metrics_save", "1").IgnoreError();
  if (congestion.empty()) return absl::OkStatus();
  const absl::Status status = WriteSetting("ipv4/tcp_congestion_control", congestion);
  if (status.ok()) return status;
  if (absl::IsPermissionDenied(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the kernel lets no namespace have the congestion control '", congestion,
                     "'; add it to the list as root: sysctl net.ipv4.tcp_allowed_congestion_control, or take another"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "expected a congestion control that the kernel has (sysctl net.ipv4.tcp_available_congestion_control; "
      "modprobe tcp_",
      congestion, " may add it), got '", congestion, "': ", status.message()));
}

absl::StatusOr<NodeNamespace> MakeHere(const NodeNamespaceOptions& options) {
  if (unshare(CLONE_NEWNET) != 0) return SystemError("cannot make a network namespace");
  NodeNamespace made;
  made.namespace_fd = FileDescriptor(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!made.namespace_fd.valid()) return SystemError("cannot open /proc/thread-self/ns/net");
  absl::Status status = Tune(options);
  if (!status.ok()) return status;
  absl::StatusOr<FileDescriptor> tun = OpenTun(options.tun_path);
  if (!tun.ok()) return tun.status();
  status = AttachTun(tun->get());
  if (status.ok()) status = ConfigureDevices(options.address);
  if (!status.ok()) return status;
  made.tun_fd = *std::move(tun);
  return made;
}

}  // namespace

absl::StatusOr<NodeNamespace> MakeNodeNamespace(const NodeNamespaceOptions& options) {
  absl::StatusOr<NodeNamespace> made = absl::UnknownError("not made");
  // A namespace is a thread's: the caller stays where it is.
  std::thread([&] { made = MakeHere(options); }).join();
  if (made.ok()) return made;
  return absl::Status(made.status().code(), absl::StrCat("node ", options.node, ": ", made.status().message()));
}

uint32_t WanAddress(size_t position) { return kNetwork + static_cast<uint32_t>(position) + 1; }

std::string WanAddressText(size_t position) {
  const uint32_t address = WanAddress(position);
  return absl::StrCat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".", address & 255);
}

// --- the right to make them ---

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

ParentDeathSignalGuard::ParentDeathSignalGuard() : parent_(getppid()) { prctl(PR_GET_PDEATHSIG, &signal_); }

ParentDeathSignalGuard::~ParentDeathSignalGuard() {
  if (signal_ == 0) return;
  prctl(PR_SET_PDEATHSIG, signal_);
  // The parent may have ended before the line above.
  if (getppid() != parent_) raise(signal_);
}

absl::Status GainNamespaceRights() {
  if (MayMakeNetworkNamespaces()) return absl::OkStatus();
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const ParentDeathSignalGuard keeper;
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
