// What `banyan doctor` looks at on this machine. A value, and the function that reads it; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_HOST_FACTS_H_
#define BANYAN_TOOLS_DOCTOR_HOST_FACTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace banyan {

// Empty where the kernel does not say.
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

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_HOST_FACTS_H_
