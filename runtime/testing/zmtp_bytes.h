// The bytes of ZeroMQ's wire protocol (ZMTP 3.0 over TCP, rfc.zeromq.org/spec/23), for peers that do not keep to it.
// Pure functions.
#ifndef BANYAN_RUNTIME_TESTING_ZMTP_BYTES_H_
#define BANYAN_RUNTIME_TESTING_ZMTP_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// What a client says first, without security or by another mechanism.
std::string ZmtpGreeting(absl::string_view mechanism = "NULL");
// And then, as a DEALER; `routing_id` is usually empty.
std::string ZmtpReady(absl::string_view routing_id = "");
std::string ZmtpHandshake();
// Of the greeting and the READY that `bytes` begin with; 0 when they are not all there.
size_t ZmtpHandshakeSize(absl::string_view bytes);

// A message frame, the last of its message unless `more`.
std::string ZmtpFrame(absl::string_view body, bool more = false);
// The beginning of a frame that is to have so many bytes.
std::string ZmtpFrameHeader(uint64_t size_bytes, bool more = false);
std::string ZmtpCommand(absl::string_view name, absl::string_view data);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_ZMTP_BYTES_H_
