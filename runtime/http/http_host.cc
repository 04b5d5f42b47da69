#include "runtime/http/http_host.h"

#include <arpa/inet.h>

#include <string>

#include "absl/strings/match.h"

namespace banyan {

bool IsAddressOrLocalhost(absl::string_view host) {
  in6_addr address = {};
  if (!host.empty() && host.front() == '[') {
    const std::string six(host.substr(1, host.find(']') - 1));
    return inet_pton(AF_INET6, six.c_str(), &address) == 1;
  }
  const std::string name(host.substr(0, host.rfind(':')));
  return inet_pton(AF_INET, name.c_str(), &address) == 1 || absl::EqualsIgnoreCase(name, "localhost");
}

}  // namespace banyan
