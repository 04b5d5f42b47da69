// With which keys a process talks to others. A value, and where it comes from.
#ifndef BANYAN_RUNTIME_TRANSPORT_SECURITY_OPTIONS_H_
#define BANYAN_RUNTIME_TRANSPORT_SECURITY_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "access/key_file.h"

namespace banyan {

// All keys have the form of one.
struct SecurityOptions {
  CurveKeys keys;                           // its own
  std::vector<std::string> scheduler_keys;  // public ones, of which a scheduler that it connects to must have one
  uint16_t data_port = 0;                   // where nodes take chunks in frames of their own; 0: a free one
};

// Reads the key file at `path`. `scheduler_keys`, if there are any, count instead of those of the file; they are asked
// for unless `is_scheduler`.
absl::StatusOr<SecurityOptions> ReadSecurity(const std::string& path, const std::vector<std::string>& scheduler_keys,
                                             bool is_scheduler);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SECURITY_OPTIONS_H_
