#include "runtime/transport/host_prefix.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace banyan {

std::string HostPrefix::Text() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (!is_ipv6) {
    const in_addr address = {htonl(words[0])};
    return inet_ntop(AF_INET, &address, text, sizeof(text));
  }
  in6_addr address = {};
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t word = htonl(words[i]);
    std::memcpy(&address.s6_addr[4 * i], &word, sizeof(word));
  }
  return absl::StrCat(inet_ntop(AF_INET6, &address, text, sizeof(text)), "/64");
}

std::optional<HostPrefix> HostPrefixOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return HostPrefix{false, {ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr), 0}};
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const in6_addr& of_peer = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  std::array<uint32_t, 4> words = {};
  std::memcpy(words.data(), of_peer.s6_addr, sizeof(words));
  if (IN6_IS_ADDR_V4MAPPED(&of_peer)) return HostPrefix{false, {ntohl(words[3]), 0}};
  return HostPrefix{true, {ntohl(words[0]), ntohl(words[1])}};
}

}  // namespace banyan
