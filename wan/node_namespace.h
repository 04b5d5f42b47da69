// The network namespace of one emulated node: loopback, and one TUN device through which it reaches all others. It
// lives as long as its descriptors or a process in it, and so does nothing of it outlive the emulator's process. Root
// has the right to make one; others gain it through a user namespace of their own.
#ifndef BANYAN_WAN_NODE_NAMESPACE_H_
#define BANYAN_WAN_NODE_NAMESPACE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"

namespace banyan {

inline constexpr char kWanDevice[] = "wan0";
inline constexpr int kMtuBytes = 1500;

struct NodeNamespaceOptions {
  std::string node;                // in messages
  uint32_t address = 0;            // IPv4, in host byte order; the others are in the same /16
  std::string congestion;          // of TCP; empty for the machine's
  std::optional<int> tso_rtt_log;  // of TCP (TsoRttLog); empty for the kernel's own
  std::string tun_path = "/dev/net/tun";
};

struct NodeNamespace {
  FileDescriptor namespace_fd;  // for setns
  FileDescriptor tun_fd;        // gives and takes packets as OffloadPacket reads them; does not block
};

// The caller stays in its own namespace. Needs the rights of GainNamespaceRights. Errors say what is missing: the
// device, permission to use it, the congestion control.
absl::StatusOr<NodeNamespace> MakeNodeNamespace(const NodeNamespaceOptions& options);

// The address of the node at this position of an overlay; in text "10.99.0.1".
uint32_t WanAddress(size_t position);
std::string WanAddressText(size_t position);

// --- the right to make them ---

// Keeps a promise of the kernel's that a process loses when it changes its user namespace: the signal that it gets when
// its parent ends (PR_SET_PDEATHSIG). It is restored when the object goes. Thread-compatible; for the thread that
// makes it.
class ParentDeathSignalGuard {
 public:
  ParentDeathSignalGuard();
  ParentDeathSignalGuard(const ParentDeathSignalGuard&) = delete;
  ParentDeathSignalGuard& operator=(const ParentDeathSignalGuard&) = delete;
  ~ParentDeathSignalGuard();

 private:
  const pid_t parent_;
  int signal_ = 0;  // 0: none
};

// Moves the process into a user namespace when it may not make network namespaces as it is. The process must have one
// thread. PERMISSION_DENIED says what forbids it and what to do.
absl::Status GainNamespaceRights();

}  // namespace banyan

#endif  // BANYAN_WAN_NODE_NAMESPACE_H_
