// Gains the right to make network namespaces: as root it is there, otherwise through a user namespace of one's own.
#ifndef BANYAN_WAN_NAMESPACE_RIGHTS_H_
#define BANYAN_WAN_NAMESPACE_RIGHTS_H_

#include "absl/status/status.h"

namespace banyan {

// Moves the process into a user namespace when it may not make network namespaces as it is. The process must have one
// thread. PERMISSION_DENIED says what forbids it and what to do.
absl::Status GainNamespaceRights();

}  // namespace banyan

#endif  // BANYAN_WAN_NAMESPACE_RIGHTS_H_
