// What a daemon tells systemd, which has started it as Type=notify. Function; thread-safe.
#ifndef BANYAN_POSIX_SERVICE_MANAGER_H_
#define BANYAN_POSIX_SERVICE_MANAGER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// Sends `state`, such as "READY=1", to `socket`, the value of $NOTIFY_SOCKET: a path, or @ and an abstract name.
// Returns whether it is on its way; false when `socket` is empty, as it is without systemd.
bool NotifyServiceManager(const std::string& socket, absl::string_view state);

}  // namespace banyan

#endif  // BANYAN_POSIX_SERVICE_MANAGER_H_
