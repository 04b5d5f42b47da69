#include "runtime/http/http_host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>
#include <vector>

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

bool IsAmong(absl::string_view host, const std::vector<std::string>& hosts) {
  const absl::string_view name = host.substr(0, host.rfind(':'));
  return std::any_of(hosts.begin(), hosts.end(),
                     [name](const std::string& known) { return absl::EqualsIgnoreCase(name, known); });
}

bool IsSameOrigin(absl::string_view origin, absl::string_view host, const std::vector<std::string>& hosts) {
  if (origin.empty()) return true;
  // The scheme may differ: a proxy in front of this server may speak TLS.
  if (!absl::ConsumePrefix(&origin, "http://") && !absl::ConsumePrefix(&origin, "https://")) return false;
  return (!host.empty() && absl::EqualsIgnoreCase(origin, host)) || IsAmong(origin, hosts);
}

}  // namespace banyan
