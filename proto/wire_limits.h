// The limits of what a message may hold. Whatever exceeds them is refused before memory is spent on it. Values;
// thread-compatible.
#ifndef BANYAN_PROTO_WIRE_LIMITS_H_
#define BANYAN_PROTO_WIRE_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace banyan {

inline constexpr size_t kMaxWireReasonBytes = 4096;

// Returns what is sent of `reason`: a longer one is cut, so that it arrives.
inline std::string SendableReason(const std::string& reason) { return reason.substr(0, kMaxWireReasonBytes); }

struct WireLimits {
  // Limits of the header frame, by the kind of message.
  size_t max_chunk_header_bytes = size_t{64} << 10;
  size_t max_control_bytes = size_t{4} << 20;
  size_t max_trace_bytes = size_t{512} << 10;     // TracePiece
  size_t max_key_table_bytes = size_t{32} << 20;  // RegisterKeys, KeysAssigned, StateManifest, PolicyPublished
  size_t max_status_bytes = size_t{64} << 20;     // StatusReply, Reconfigure

  int max_entries = 65536;  // of any list
  int max_path_nodes = 1024;
  int max_frames = 256;
  size_t max_name_bytes = 1024;  // names, addresses
  size_t max_reason_bytes = kMaxWireReasonBytes;
  int64_t max_chunk_elements = int64_t{1} << 24;
  int64_t max_key_elements = int64_t{1} << 40;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_WIRE_LIMITS_H_
