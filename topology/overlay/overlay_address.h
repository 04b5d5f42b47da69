// The forms of addresses in `overlay.yaml`. Pure functions; nothing is looked up.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_ADDRESS_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// An address that others connect to: tcp://host:port with a port from 1 to 65535. The host is a name, an IPv4 address,
// or an IPv6 address in brackets, of one machine. All refusals here say why: 10.0.0.256 is no address, nobody can
// connect to 0.0.0.0.
absl::Status CheckConnectAddress(absl::string_view address);
// Takes a list of such addresses with commas between them, at least one. INVALID_ARGUMENT names one that is wrong, or
// that comes twice.
absl::StatusOr<std::vector<std::string>> ParseConnectAddresses(absl::string_view list);
// An address to listen on: likewise; the host may be * and the port 0 for any free one.
absl::Status CheckListenAddress(absl::string_view address);
// Returns whether `address`, which CheckListenAddress takes, stands for every interface: *, 0.0.0.0 or [::].
bool ListensOnAllInterfaces(absl::string_view address);
// Checks the address of a page that is served: host:port, without a scheme, otherwise as for listening.
absl::Status CheckHttpAddress(absl::string_view address);
// Checks where a web server is: http://host:port or https://host:port, without a path.
absl::Status CheckHttpUrl(absl::string_view url);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_ADDRESS_H_
