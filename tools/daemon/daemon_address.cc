#include "tools/daemon/daemon_address.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace banyan {

bool IsLoopback(absl::string_view address) {
  return absl::StartsWith(address, "tcp://127.") || absl::StartsWith(address, "tcp://localhost:") ||
         absl::StartsWith(address, "tcp://[::1]:");
}

std::string OpenAddressWarning(absl::string_view address) {
  if (IsLoopback(address)) return "";
  return absl::StrCat(
      "listening on ", address,
      ", which other machines reach: connections are not encrypted yet, so a well-formed impostor is not kept "
      "out; use it in a network you trust");
}

std::string WithPort(absl::string_view address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

}  // namespace banyan
