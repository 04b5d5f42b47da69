// Looks at this machine, for a site of an overlay: at its kernel's limits, its daemon's key, and its clock. Values and
// functions; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_
#define BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/doctor/site_report.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// What is known about this machine; empty where the kernel does not say.
struct HostFacts {
  std::string congestion_control;  // of new connections
  std::set<std::string> congestion_controls;
  std::optional<int64_t> most_send_buffer_bytes;  // of one connection, that the kernel grows to
  std::optional<int64_t> most_receive_buffer_bytes;
  std::optional<int64_t> mtu_probing;
  std::optional<int64_t> descriptors;  // that a process may have
  std::optional<int64_t> mappings;     // of memory, likewise
  std::optional<int64_t> available_memory_bytes;
  std::optional<int64_t> memory_limit_bytes;  // as FindMemoryLimit; empty for none
  bool has_ipv6 = false;
};

// Reads the files of the kernel below `root`, "/" but in tests, and this process's limits.
HostFacts ReadHostFacts(const std::string& root);

// What a site needs; zero or empty where nobody has said it.
struct HostNeeds {
  int64_t product_bytes = 0;    // the largest bandwidth-delay product of its links
  int connections = 1;          // that share a link
  bool has_lossy_path = false;  // a link that is long and loses packets
  bool needs_ipv6 = false;
  int64_t descriptors = 0;
  int64_t tensors = 0;  // of all workers
  int64_t memory_bytes = 0;
};

// Returns a result for each that could be judged.
CheckResults CheckHost(const HostFacts& facts, const HostNeeds& needs);

// Looks at the key of a site's daemon: is it there, and is it that which the overlay lists? `site` is a node's name, or
// that of the scheduler; `folders` are those in which its daemon looks for the key.
CheckResult CheckKey(const OverlayConfig& overlay, const std::string& site, const std::vector<std::string>& folders);

// The state of the clock as `chronyc -c tracking` says it.
struct ClockTracking {
  std::string reference;  // a name or an address; empty for none, or for the machine's own clock
  int stratum = 0;        // 0: not synchronised
  absl::Duration offset;  // of this clock to the reference, to either side
  absl::Duration root_delay;
  absl::Duration root_dispersion;
  std::string leap;  // "Normal", "Not synchronised", ...
};

// INVALID_ARGUMENT for anything but the one line of a chrony from 2.x to 4.x.
absl::StatusOr<ClockTracking> ParseTracking(absl::string_view line);

// Looks at the clock of this machine as chrony sees it. Returns each check that could be made, in order: one that fails
// may leave no sense in those after it. `chronyc` is the path of chrony's client; the clock may be off by `max_offset`.
CheckResults CheckClock(const std::string& chronyc, absl::Duration max_offset);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_
