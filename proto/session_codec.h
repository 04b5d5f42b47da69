// The one place that turns the messages between worker and node into bytes and back. It checks sizes and fields of what
// the other side sent. Pure functions.
#ifndef BANYAN_PROTO_SESSION_CODEC_H_
#define BANYAN_PROTO_SESSION_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/session_messages.h"

namespace banyan {

inline constexpr size_t kMaxSessionMessageBytes = 16384;
inline constexpr size_t kMaxStateParts = 65536;
inline constexpr size_t kMaxStateNameBytes = size_t{8} << 20;  // of all parts together

// Returns the messages that name a group's tensors, each small enough; none for no group.
std::vector<DescribeGroup> DescribeInMessages(const TensorLayout& layout);

// At most kMaxSessionMessageBytes: a longer status text is cut.
std::string EncodeWorkerMessage(const WorkerMessage& message);
std::string EncodeWorkerReply(const WorkerReply& reply);

// INVALID_ARGUMENT says what was expected and what came.
absl::StatusOr<WorkerMessage> DecodeWorkerMessage(absl::string_view bytes);
absl::StatusOr<WorkerReply> DecodeWorkerReply(absl::string_view bytes);

}  // namespace banyan

#endif  // BANYAN_PROTO_SESSION_CODEC_H_
