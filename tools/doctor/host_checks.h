// Judges what is known about this machine, for a site of an overlay. Pure function; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_
#define BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_

#include <cstdint>
#include <optional>

#include "tools/doctor/check_result.h"
#include "tools/doctor/host_facts.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_HOST_CHECKS_H_
