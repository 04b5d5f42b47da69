// Addresses of TCP sockets as the kernel has them, and sockets that connect and listen, each within a given time.
// Functions; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_TCP_ADDRESS_H_
#define BANYAN_TOOLS_DOCTOR_TCP_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/file_descriptor.h"

namespace banyan {

struct TcpAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  bool IsIpv6() const { return storage.ss_family == AF_INET6; }
  bool IsLoopback() const;
  // Returns host:port, an IPv6 host in brackets.
  std::string Text() const;
  // Returns the host alone, without brackets.
  std::string Host() const;
};

// Looks up where `address`, tcp://host:port, is, as daemons do; * is every address of this machine. Blocks, for as long
// as name servers take. UNAVAILABLE says why there is none.
absl::StatusOr<std::vector<TcpAddress>> LookUp(const std::string& address);

// Connects within `timeout`. UNAVAILABLE when it is refused, DEADLINE_EXCEEDED when nothing answers,
// FAILED_PRECONDITION when this machine knows no way; in the kernel's words.
absl::StatusOr<FileDescriptor> ConnectTcp(const TcpAddress& address, absl::Duration timeout);

// Listens. ALREADY_EXISTS when another socket does, FAILED_PRECONDITION when the address is not this machine's.
absl::StatusOr<FileDescriptor> ListenOnTcp(const TcpAddress& address);

// The two ends of a connection.
TcpAddress OwnEnd(int fd);
TcpAddress OtherEnd(int fd);

// The addresses of this machine's interfaces, without ports.
std::vector<TcpAddress> InterfaceAddresses();

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_TCP_ADDRESS_H_
