#include "topology/overlay/overlay_address.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace banyan {
namespace {

constexpr size_t kLongestHost = 253;

bool IsHost(absl::string_view host) {
  if (host.empty() || host.size() > kLongestHost) return false;
  if (host.front() == '[') {
    return host.size() > 2 && host.back() == ']' && std::all_of(host.begin() + 1, host.end() - 1, [](char c) {
             return absl::ascii_isxdigit(c) || c == ':' || c == '.';
           });
  }
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; });
}

bool IsHostAndPort(absl::string_view text, bool listens) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return false;
  const absl::string_view host = text.substr(0, colon);
  const absl::string_view digits = text.substr(colon + 1);
  int port = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) || !absl::SimpleAtoi(digits, &port)) return false;
  return port >= (listens ? 0 : 1) && port <= 65535 && (IsHost(host) || (listens && host == "*"));
}

absl::Status Refuse(absl::string_view form, absl::string_view address) {
  return absl::InvalidArgumentError(absl::StrCat("expected an address of the form ", form, ", got '",
                                                 absl::Utf8SafeCHexEscape(address.substr(0, kLongestHost)), "'"));
}

}  // namespace

absl::Status CheckConnectAddress(absl::string_view address) {
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, "tcp://") && IsHostAndPort(rest, false)) return absl::OkStatus();
  return Refuse("tcp://host:port with a port from 1 to 65535", address);
}

absl::StatusOr<std::vector<std::string>> ParseConnectAddresses(absl::string_view list) {
  std::vector<std::string> addresses;
  for (const absl::string_view address : absl::StrSplit(list, ',')) {
    if (absl::Status status = CheckConnectAddress(address); !status.ok()) return status;
    if (std::find(addresses.begin(), addresses.end(), address) != addresses.end()) {
      return absl::InvalidArgumentError(absl::StrCat("expected different addresses, got '", address, "' twice"));
    }
    addresses.emplace_back(address);
  }
  return addresses;
}

absl::Status CheckListenAddress(absl::string_view address) {
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, "tcp://") && IsHostAndPort(rest, true)) return absl::OkStatus();
  return Refuse("tcp://host:port (host * for every interface, port 0 for any free one)", address);
}

absl::Status CheckHttpAddress(absl::string_view address) {
  if (IsHostAndPort(address, true)) return absl::OkStatus();
  return Refuse("host:port (host * for every interface, port 0 for any free one)", address);
}

absl::Status CheckHttpUrl(absl::string_view url) {
  absl::string_view rest = url;
  if ((absl::ConsumePrefix(&rest, "http://") || absl::ConsumePrefix(&rest, "https://")) && IsHostAndPort(rest, false)) {
    return absl::OkStatus();
  }
  return Refuse("http://host:port or https://host:port with a port from 1 to 65535", url);
}

}  // namespace banyan
