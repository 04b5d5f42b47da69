#include "access/exposure.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace banyan {

bool IsLoopback(absl::string_view address) {
  return absl::StartsWith(address, "tcp://127.") || absl::StartsWith(address, "tcp://localhost:") ||
         absl::StartsWith(address, "tcp://[::1]:");
}

absl::Status CheckExposure(const std::vector<std::string>& addresses, bool has_keys, bool without) {
  if (has_keys || without) return absl::OkStatus();
  for (const std::string& address : addresses) {
    if (address.empty() || IsLoopback(address)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("other machines reach ", address,
                     ", and without a key any of them may act as any node or operator: make "
                     "keys with `banyan keygen --all overlay.yaml DIR` and give this process its own, by --key, key= "
                     "or BANYAN_KEY, or want none, by --insecure or insecure=True"));
  }
  return absl::OkStatus();
}

}  // namespace banyan
