// The one place where messages between daemons become bytes and bytes become messages. A message is one header frame, a
// Protobuf envelope (proto/envelope.proto); the frames of a chunk's payload follow as socket frames of their own and
// are never copied here. Pure functions.
#ifndef BANYAN_PROTO_WIRE_H_
#define BANYAN_PROTO_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/buffer.h"
#include "proto/message.h"
#include "proto/wire_limits.h"

namespace banyan {

// Returns the header frame of `message`. What it cannot carry is changed so that the message arrives. A reason is cut
// after kMaxWireReasonBytes. Durations lose what is below a nanosecond. A reported loss that is no finite number
// becomes the largest or lowest one.
std::string EncodeMessage(const Message& message);

// Returns the message of a header frame that came with `payload`. A peer may send anything: INVALID_ARGUMENT names the
// kind of message and the field, what was expected and what came. A message that is returned is within `limits`. Its
// enums and ids are valid, its numbers finite and its routes free of cycles. The frames of a chunk are what its header
// says. What needs knowledge of the job (is the route the policy's?) is left to the cores. Fields that this version
// does not know are ignored; the protocol version in Join and PeerHello rises when that would be wrong.
absl::StatusOr<Message> DecodeMessage(absl::string_view header, const Payload& payload,
                                      const WireLimits& limits = WireLimits());

}  // namespace banyan

#endif  // BANYAN_PROTO_WIRE_H_
