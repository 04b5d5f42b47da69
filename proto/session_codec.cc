#include "proto/session_codec.h"

#include <array>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/field_wire.h"
#include "proto/message_parts.h"
#include "proto/scheduler_messages.h"  // the description of a group's tensors

namespace banyan {
namespace {

// The alternatives of WorkerMessage and WorkerReply, in their order, with their numbers in proto/session.proto.
constexpr std::array<MessageKind, std::variant_size_v<WorkerMessage>> kMessageKinds = {{
    {1, "AttachWorker"},
    {2, "OpenTensor"},
    {3, "TensorCall"},
    {4, "BarrierCall"},
    {5, "ReportLossCall"},
    {6, "WorkerGoodBye"},
    {7, "DescribeState"},
    {8, "ShareStateCall"},
    {9, "BoundaryCall"},
    {10, "LeaveBoundary"},
    {11, "FetchStateCall"},
    {12, "StateFilled"},
    {13, "StateTaken"},
    {14, "DescribeWait"},
    {15, "DescribeGroup"},
}};
constexpr std::array<MessageKind, std::variant_size_v<WorkerReply>> kReplyKinds = {{
    {1, "WorkerAttached"},
    {2, "TensorOpened"},
    {3, "CallCompleted"},
    {4, "SlotFreed"},
    {6, "RoundCompleted"},
    {7, "JobEnded"},
    {5, "WorkerMessageRejected"},
    {8, "StateOpened"},
    {9, "HoldAtBoundary"},
    {10, "StateRead"},
    {11, "StateHashesRead"},
    {12, "StateWrite"},
    {13, "MembersChanged"},
}};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed message between worker and node: ", what));
}

template <typename Variant, size_t n>
absl::StatusOr<Variant> Decode(absl::string_view bytes, const std::array<MessageKind, n>& kinds) {
  if (bytes.size() > kMaxSessionMessageBytes) {
    return Malformed(absl::StrCat("expected at most ", kMaxSessionMessageBytes, " bytes, got ", bytes.size()));
  }
  const Enveloped envelope = OpenEnvelope(bytes);
  const MessageKind* const kind = KindOfNumber(kinds, envelope.number);
  if (kind == nullptr || envelope.length != envelope.body.size()) {
    return Malformed("an envelope without a message that this version knows");
  }
  const WireLimits limits;
  absl::Status error;
  Variant message;
  ReadOneOf(envelope, kinds, FieldReader(limits, error), message);
  if (!error.ok()) return Malformed(absl::StrCat(kind->name, ": ", error.message()));
  return message;
}

}  // namespace

std::vector<DescribeGroup> DescribeInMessages(const TensorLayout& layout) {
  std::vector<DescribeGroup> messages;
  SendInParts(layout.parts, kMaxSessionMessageBytes,
              [&messages](std::vector<TensorLayout::Part> parts) { messages.push_back({std::move(parts)}); });
  return messages;
}

std::string EncodeWorkerMessage(const WorkerMessage& message) { return EncodeOneOf(message, kMessageKinds); }

std::string EncodeWorkerReply(const WorkerReply& reply) { return EncodeOneOf(reply, kReplyKinds); }

absl::StatusOr<WorkerMessage> DecodeWorkerMessage(absl::string_view bytes) {
  return Decode<WorkerMessage>(bytes, kMessageKinds);
}

absl::StatusOr<WorkerReply> DecodeWorkerReply(absl::string_view bytes) {
  return Decode<WorkerReply>(bytes, kReplyKinds);
}

}  // namespace banyan
