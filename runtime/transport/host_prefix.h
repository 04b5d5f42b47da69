// What tells hosts apart that connect: an IPv4 address, or the 64 bits of an IPv6 address that one site has. A value;
// thread-compatible.
#ifndef BANYAN_RUNTIME_TRANSPORT_HOST_PREFIX_H_
#define BANYAN_RUNTIME_TRANSPORT_HOST_PREFIX_H_

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace banyan {

struct HostPrefix {
  bool is_ipv6 = false;
  // In the order of the network, each as a number; the second is 0 for IPv4.
  std::array<uint32_t, 2> words = {};

  auto operator<=>(const HostPrefix&) const = default;

  // As people write it: 192.0.2.7 or 2001:db8:1:2::/64.
  std::string Text() const;
};

// Returns the prefix of a peer's address, of an IPv4 one also where it came over IPv6; nothing for another family.
std::optional<HostPrefix> HostPrefixOf(const sockaddr_storage& address);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_HOST_PREFIX_H_
