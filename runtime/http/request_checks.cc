#include "runtime/http/request_checks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace banyan {
namespace {

// Returns what follows the scheme in the value of the header Authorization; nothing where it is another scheme.
std::optional<absl::string_view> CredentialsOf(absl::string_view authorization, absl::string_view scheme) {
  const size_t space = authorization.find(' ');
  if (space == absl::string_view::npos || !absl::EqualsIgnoreCase(authorization.substr(0, space), scheme)) {
    return std::nullopt;
  }
  return absl::StripAsciiWhitespace(authorization.substr(space));
}

}  // namespace

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

bool IsSameSecret(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler ends the loop at the first difference.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

bool GivesBearerToken(absl::string_view authorization, absl::string_view token) {
  const std::optional<absl::string_view> given = CredentialsOf(authorization, "bearer");
  return given.has_value() && IsSameSecret(*given, token);
}

bool GivesToken(absl::string_view authorization, absl::string_view token) {
  if (GivesBearerToken(authorization, token)) return true;
  const std::optional<absl::string_view> given = CredentialsOf(authorization, "basic");
  std::string name_and_password;
  if (!given.has_value() || !absl::Base64Unescape(*given, &name_and_password)) return false;
  const size_t colon = name_and_password.find(':');
  return colon != std::string::npos && IsSameSecret(absl::string_view(name_and_password).substr(colon + 1), token);
}

}  // namespace banyan
