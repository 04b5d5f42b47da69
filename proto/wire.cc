#include "proto/wire.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/field_reader.h"
#include "proto/field_wire.h"

namespace banyan {
namespace {

// The alternatives of Message, in their order, with their numbers in the envelope (proto/envelope.proto).
constexpr std::array<MessageKind, std::variant_size_v<AnyMessage>> kKinds = {{
    {1, "ChunkMessage"},
    {2, "PeerHello"},
    {3, "LinkAck"},
    {4, "DeliveryAck"},
    {5, "Busy"},
    {6, "Grant"},
    {7, "PeerHeartbeat"},
    {8, "GoAway"},
    {16, "Join"},
    {17, "JoinAccepted"},
    {18, "JoinRefused"},
    {19, "MembershipUpdate"},
    {20, "Heartbeat"},
    {21, "HeartbeatReply"},
    {22, "RegisterKeys"},
    {23, "KeysAssigned"},
    {24, "KeyRefused"},
    {25, "PolicyRequest"},
    {26, "PolicyAnswer"},
    {27, "PolicyPublished"},
    {28, "RoundsClosed"},
    {29, "ClosedEverywhere"},
    {30, "BarrierEntered"},
    {31, "BarrierReleased"},
    {32, "PeerLost"},
    {33, "WorkerLost"},
    {34, "Leave"},
    {35, "JobFailed"},
    {36, "NodeReport"},
    {37, "StatusRequest"},
    {38, "StatusReply"},
    {39, "PoliciesRetired"},
    {40, "Reconfigure"},
    {41, "OperatorReply"},
    {42, "RoundBroken"},
    {43, "EpochBegin"},
    {44, "EpochReport"},
    {45, "EpochPlan"},
    {46, "StopJob"},
    {47, "RemoveNode"},
    {48, "StateWanted"},
    {49, "StateSought"},
    {50, "BoundaryHeld"},
    {51, "NoState"},
    {52, "StateHolders"},
    {53, "FetchEnded"},
    {54, "StateReleased"},
    {55, "StateManifestWanted"},
    {56, "StateManifest"},
    {57, "StateRequest"},
    {58, "StateRefused"},
    {59, "WaitQuestion"},
    {60, "WaitAnswer"},
    {61, "CutSought"},
    {62, "CutBound"},
    {63, "AccessList"},
    {64, "RoundsPushed"},
    {65, "QuorumReached"},
    {66, "HealthReport"},
    {67, "VetoLowBit"},
    {68, "TraceRounds"},
    {69, "TraceOrder"},
    {70, "TraceReady"},
    {71, "TracePiece"},
    {72, "TraceEnd"},
    {73, "CannotFollow"},
}};

absl::Status Malformed(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed ", name, ": ", what));
}

template <typename... Alternatives>
constexpr bool IsOneOf(absl::string_view name, Alternatives... names) {
  return ((name == names) || ...);
}

size_t MaxHeaderBytes(absl::string_view name, const WireLimits& limits) {
  if (name == "ChunkMessage") return limits.max_chunk_header_bytes;
  if (name == "TracePiece") return limits.max_trace_bytes;
  if (IsOneOf(name, "RegisterKeys", "KeysAssigned", "StateManifest", "PolicyPublished")) {
    return limits.max_key_table_bytes;
  }
  return IsOneOf(name, "StatusReply", "Reconfigure") ? limits.max_status_bytes : limits.max_control_bytes;
}

}  // namespace

std::string EncodeMessage(const Message& message) {
  return EncodeOneOf(static_cast<const AnyMessage&>(message), kKinds);
}

absl::StatusOr<Message> DecodeMessage(absl::string_view header, const Payload& payload, const WireLimits& limits) {
  const size_t size_bytes = std::min(header.size(), size_t{std::numeric_limits<int>::max()});
  const Enveloped envelope = OpenEnvelope(header.substr(0, size_bytes));
  if (envelope.number == 0) {
    return Malformed("message", absl::StrCat("an envelope expected, ", header.size(), " other bytes came"));
  }
  const MessageKind* const kind = KindOfNumber(kKinds, envelope.number);
  if (kind == nullptr) {
    return Malformed("message", absl::StrCat("number ", envelope.number, " is unknown to this version"));
  }
  const size_t limit = MaxHeaderBytes(kind->name, limits);
  if (header.size() > limit || header.size() != size_bytes) {
    return Malformed(kind->name,
                     absl::StrCat("a header of at most ", limit, " bytes expected, ", header.size(), " came"));
  }
  if (envelope.length != envelope.body.size()) {
    return Malformed(kind->name,
                     absl::StrCat("a body of ", envelope.length, " bytes expected, ", envelope.body.size(), " came"));
  }
  if (!payload.empty() && absl::string_view(kind->name) != "ChunkMessage") {
    return Malformed(kind->name, absl::StrCat("no payload expected, ", payload.size(), " frames came"));
  }
  absl::Status error;
  FieldReader fields(limits, error);
  Message message;
  ReadOneOf(envelope, kKinds, fields, static_cast<AnyMessage&>(message));
  if (const auto* chunk = std::get_if<ChunkMessage>(&message); chunk != nullptr) CheckFrames(*chunk, payload, fields);
  if (!error.ok()) return Malformed(kind->name, error.message());
  return message;
}

}  // namespace banyan
