#include "runtime/http/http_host.h"

#include <arpa/inet.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

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

bool IsSameOrigin(absl::string_view origin, absl::string_view host) {
  if (origin.empty()) return true;
  // The scheme may differ: a proxy in front of this server may speak TLS.
  return (absl::ConsumePrefix(&origin, "http://") || absl::ConsumePrefix(&origin, "https://")) && !host.empty() &&
         absl::EqualsIgnoreCase(origin, host);
}

}  // namespace banyan
