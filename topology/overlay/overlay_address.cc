#include "topology/overlay/overlay_address.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace banyan {
namespace {

constexpr size_t kLongestHost = 253;
constexpr size_t kLongestLabel = 63;
constexpr size_t kIpv6Groups = 8;
constexpr int kMostPort = 65535;

// What an address is for: to connect to, or to listen on, which may leave the host (*) and the port (0) open.
enum class Use { kConnect, kListen };

// Why `text` is not right; nothing when it is.
using Reason = std::optional<std::string>;

bool AllOf(absl::string_view text, bool (*test)(unsigned char)) {
  return std::all_of(text.begin(), text.end(), [test](char c) { return test(static_cast<unsigned char>(c)); });
}

// Whether `host` can only be meant as an IPv4 address: no name of a machine ends in a number.
bool LooksLikeIpv4(absl::string_view host) {
  const absl::string_view last = host.substr(host.rfind('.') + 1);
  return !last.empty() && AllOf(last, absl::ascii_isdigit);
}

Reason Ipv4Fault(absl::string_view host) {
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  const bool right = parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
                       int number = 0;
                       return !part.empty() && part.size() <= 3 && AllOf(part, absl::ascii_isdigit) &&
                              (part.size() == 1 || part.front() != '0') && absl::SimpleAtoi(part, &number) &&
                              number <= 255;
                     });
  if (right) return std::nullopt;
  return absl::StrCat("'", host, "' is no IPv4 address, which has four numbers from 0 to 255 and no leading zeros");
}

// `groups` are the parts between colons. An IPv4 address at the end stands for two of them.
bool AreIpv6Groups(absl::Span<const absl::string_view> groups, size_t* count) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const bool is_ipv4 = i + 1 == groups.size() && absl::StrContains(groups[i], '.');
    if (is_ipv4 ? Ipv4Fault(groups[i]).has_value()
                : groups[i].empty() || groups[i].size() > 4 || !AllOf(groups[i], absl::ascii_isxdigit)) {
      return false;
    }
    *count += is_ipv4 ? 2 : 1;
  }
  return true;
}

bool IsIpv6(absl::string_view text) {
  const std::vector<absl::string_view> halves = absl::StrSplit(text, "::");
  if (halves.size() > 2) return false;
  size_t count = 0;
  for (const absl::string_view half : halves) {
    if (half.empty()) continue;
    const std::vector<absl::string_view> groups = absl::StrSplit(half, ':');
    if (!AreIpv6Groups(groups, &count)) return false;
  }
  return halves.size() == 2 ? count < kIpv6Groups : count == kIpv6Groups;
}

Reason NameFault(absl::string_view host) {
  if (host.size() > kLongestHost) return absl::StrCat("a host name has at most ", kLongestHost, " characters");
  // The dot at the end of a whole name, as DNS has it.
  for (const absl::string_view label : absl::StrSplit(absl::StripSuffix(host, "."), '.')) {
    const bool right =
        !label.empty() && label.size() <= kLongestLabel && label.front() != '-' && label.back() != '-' &&
        std::all_of(label.begin(), label.end(), [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; });
    if (right) continue;
    return absl::StrCat("'", absl::CHexEscape(host),
                        "' is no host name, which has letters, digits, '-' and '_' with single dots between");
  }
  return std::nullopt;
}

// IPv6 has many ways to write its zeros.
bool IsEveryInterface(absl::string_view host) {
  return host == "*" || host == "0.0.0.0" ||
         (absl::StartsWith(host, "[") && host.find_first_not_of("[]:.0") == absl::string_view::npos);
}

// Addresses of no machine, or of all.
Reason UnreachableFault(absl::string_view host) {
  if (IsEveryInterface(host)) {
    return absl::StrCat("no process can connect to ", host,
                        ", which stands for every interface; name one of the machine");
  }
  int first = 1;
  const bool is_ipv4 =
      LooksLikeIpv4(host) && !Ipv4Fault(host).has_value() && absl::SimpleAtoi(host.substr(0, host.find('.')), &first);
  const bool is_ipv6_group = host.find(':') == 5 && absl::StartsWithIgnoreCase(host, "[ff");
  if ((is_ipv4 && first >= 224) || is_ipv6_group)
    return absl::StrCat(host, " is an address of many machines; name one");
  if (is_ipv4 && first == 0) return absl::StrCat(host, " is an address of no machine");
  return std::nullopt;
}

Reason HostFault(absl::string_view host, Use use) {
  if (host.empty()) return "the host is missing before the ':'";
  if (use == Use::kConnect) {
    if (Reason fault = UnreachableFault(host); fault.has_value()) return fault;
  }
  if (host == "*") return std::nullopt;
  if (host.front() == '[') {
    if (host.back() == ']' && IsIpv6(host.substr(1, host.size() - 2))) return std::nullopt;
    return absl::StrCat("'", absl::CHexEscape(host), "' is no IPv6 address in brackets, such as [fd00::1]");
  }
  if (absl::StrContains(host, ':')) {
    return absl::StrCat("an IPv6 address needs brackets: [", absl::CHexEscape(host), "]");
  }
  return LooksLikeIpv4(host) ? Ipv4Fault(host) : NameFault(host);
}

Reason PortFault(absl::string_view digits, Use use) {
  const int least = use == Use::kListen ? 0 : 1;
  int port = 0;
  // A zero in front would make one address two.
  const bool is_number =
      !digits.empty() && AllOf(digits, absl::ascii_isdigit) && (digits.size() == 1 || digits[0] != '0');
  if (is_number && absl::SimpleAtoi(digits, &port) && port >= least && port <= kMostPort) return std::nullopt;
  const std::string range = absl::StrCat("ports go from ", least, " to ", kMostPort);
  if (digits.empty()) return absl::StrCat("the port is missing after the ':'; ", range);
  return absl::StrCat("'", absl::CHexEscape(digits), "' is no port", is_number && port == 0 ? " to connect to" : "",
                      "; ", range);
}

// Looks at host:port.
Reason PlaceFault(absl::string_view text, Use use) {
  if (!text.empty() && text.front() == '[' && absl::StrContains(text, ']')) {
    const size_t end = text.find(']') + 1;
    if (end == text.size()) return "the port is missing, such as :7700";
    if (text[end] != ':') return "expected ':' and a port after the ']'";
    Reason fault = HostFault(text.substr(0, end), use);
    return fault.has_value() ? fault : PortFault(text.substr(end + 1), use);
  }
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return "the port is missing, such as :7700";
  Reason fault = HostFault(text.substr(0, colon), use);
  return fault.has_value() ? fault : PortFault(text.substr(colon + 1), use);
}

absl::Status Refuse(absl::string_view form, absl::string_view address, const Reason& reason) {
  return absl::InvalidArgumentError(absl::StrCat("expected an address of the form ", form, ", got '",
                                                 absl::CHexEscape(address.substr(0, kLongestHost)), "'",
                                                 reason.has_value() ? absl::StrCat(": ", *reason) : ""));
}

// `form` reads "tcp://host:port"; schemes end in "://", and none of them is right where the list is empty.
absl::Status Check(absl::string_view address, const std::vector<std::string>& schemes, absl::string_view form,
                   Use use) {
  absl::string_view rest = address;
  const bool has_scheme = std::any_of(schemes.begin(), schemes.end(), [&rest](const std::string& scheme) {
    return absl::ConsumePrefix(&rest, scheme);
  });
  if (!schemes.empty() && !has_scheme) {
    const bool is_place = !absl::StrContains(address, "://") && !PlaceFault(address, use).has_value();
    return Refuse(form, address, is_place ? Reason(absl::StrCat("write ", schemes.front(), address)) : std::nullopt);
  }
  if (schemes.empty() && absl::StrContains(address, "://")) {
    return Refuse(form, address, absl::StrCat("write ", address.substr(address.find("://") + 3)));
  }
  if (const Reason fault = PlaceFault(rest, use); fault.has_value()) return Refuse(form, address, fault);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckConnectAddress(absl::string_view address) {
  return Check(address, {"tcp://"}, "tcp://host:port with a port from 1 to 65535", Use::kConnect);
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
  return Check(address, {"tcp://"}, "tcp://host:port (host * for every interface, port 0 for any free one)",
               Use::kListen);
}

bool ListensOnAllInterfaces(absl::string_view address) {
  absl::ConsumePrefix(&address, "tcp://");
  return IsEveryInterface(address.substr(0, address.rfind(':')));
}

absl::Status CheckHttpAddress(absl::string_view address) {
  return Check(address, {}, "host:port (host * for every interface, port 0 for any free one)", Use::kListen);
}

absl::Status CheckHttpUrl(absl::string_view url) {
  return Check(url, {"http://", "https://"}, "http://host:port or https://host:port with a port from 1 to 65535",
               Use::kConnect);
}

}  // namespace banyan
