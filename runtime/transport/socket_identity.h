// Remembers which socket a descriptor named. Another part of the process owns the descriptor and may close it, and the
// kernel then gives its number to another socket. A value; thread-compatible.
//
// Invariants:
// - The number that Descriptor() returns named, at that moment, the socket that this was made for.
#ifndef BANYAN_RUNTIME_TRANSPORT_SOCKET_IDENTITY_H_
#define BANYAN_RUNTIME_TRANSPORT_SOCKET_IDENTITY_H_

#include <sys/types.h>

namespace banyan {

class SocketIdentity {
 public:
  // Names no socket.
  SocketIdentity() = default;
  // Names the socket behind `fd`; none when there is none.
  explicit SocketIdentity(int fd);

  // Returns the socket's descriptor; -1 when it is closed, or names something else by now.
  int Descriptor() const;

 private:
  int fd_ = -1;
  // The kernel gives each open socket a number of its own, and uses it again only after four billion others.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SOCKET_IDENTITY_H_
