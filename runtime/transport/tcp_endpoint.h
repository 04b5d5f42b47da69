// Where tcp:// addresses lead: names become numbers, of either family. ZeroMQ would look names up on its I/O threads,
// and take a name to listen on for a network interface. Functions; thread-safe. What blocks says so.
#ifndef BANYAN_RUNTIME_TRANSPORT_TCP_ENDPOINT_H_
#define BANYAN_RUNTIME_TRANSPORT_TCP_ENDPOINT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace banyan {

// One address and port of one machine.
struct TcpEndpoint {
  std::string host;  // a number, without brackets
  std::string port;
  bool is_ipv6 = false;

  // tcp://10.0.0.1:7700 or tcp://[fd00::1]:7700.
  std::string Address() const;
  // The unix socket of whoever listens here, as ZeroMQ has it; none unless the host is the loopback interface's. Its
  // name is one of the network namespace, and no file.
  std::optional<std::string> UnixAddress() const;
  friend bool operator==(const TcpEndpoint&, const TcpEndpoint&) = default;
};

// Returns where `address`, tcp://host:port, leads if its host is a number.
std::optional<TcpEndpoint> NumericEndpoint(const std::string& address);
// Looks the host of `address` up and returns where it leads, the best first, at least one. Blocks, for as long as name
// servers take. INVALID_ARGUMENT for what has not this form, UNAVAILABLE for a host that nobody knows.
absl::StatusOr<std::vector<TcpEndpoint>> LookUpEndpoints(const std::string& address);
// Likewise for listening: the host * is every address of this machine, of both families where the kernel has both.
absl::StatusOr<std::vector<TcpEndpoint>> LookUpListeners(const std::string& address);
// Tries to connect. Returns why that fails, such as "Connection refused"; empty when it does not. Blocks for `patience`
// at most.
std::string WhyUnreachable(const TcpEndpoint& endpoint, absl::Duration patience);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_TCP_ENDPOINT_H_
