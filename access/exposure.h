// Refuses to be careless: who listens beyond its machine needs keys. Pure functions.
#ifndef BANYAN_ACCESS_EXPOSURE_H_
#define BANYAN_ACCESS_EXPOSURE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Returns whether only processes of this machine reach `address` (tcp://host:port).
bool IsLoopback(absl::string_view address);

// FAILED_PRECONDITION when one of `addresses`, those that a process listens on or is reached at, leads beyond this
// machine, and there are neither keys nor the wish to do `without` them. Empty addresses lead nowhere.
absl::Status CheckExposure(const std::vector<std::string>& addresses, bool has_keys, bool without);

}  // namespace banyan

#endif  // BANYAN_ACCESS_EXPOSURE_H_
