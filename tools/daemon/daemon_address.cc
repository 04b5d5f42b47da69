#include "tools/daemon/daemon_address.h"

#include "absl/strings/str_cat.h"
#include "access/exposure.h"

namespace banyan {

std::string OpenAddressWarning(absl::string_view address, bool is_secured) {
  if (is_secured || IsLoopback(address)) return "";
  return absl::StrCat(
      "listening on ", address,
      ", which other machines reach, without keys (--insecure): whoever does may speak as any node or operator");
}

std::string WithPort(absl::string_view address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

}  // namespace banyan
