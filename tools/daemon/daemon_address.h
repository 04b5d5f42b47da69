// Checks and warnings of the daemons about the addresses that they listen on. Pure functions.
#ifndef BANYAN_TOOLS_DAEMON_DAEMON_ADDRESS_H_
#define BANYAN_TOOLS_DAEMON_DAEMON_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// The warning for a daemon that listens on `address`; empty when only this machine reaches it, or only listed keys
// come in.
std::string OpenAddressWarning(absl::string_view address, bool is_secured);

// `address` with `port` in place of its own.
std::string WithPort(absl::string_view address, int port);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_DAEMON_ADDRESS_H_
