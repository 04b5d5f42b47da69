// The congestion controls of this process's TCP connections, by the kernel's names. Pure functions of the kernel's
// state; thread-safe.
#ifndef BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_
#define BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

inline constexpr absl::string_view kBbr = "bbr";

// Of a TCP socket; empty where the kernel does not say.
std::string CongestionControlOf(int fd);
// Whether a new connection takes each lost packet for a full queue, as it does with all congestion controls but BBR.
bool NewConnectionsAreLossLimited();

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_
