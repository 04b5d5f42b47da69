#include "proto/wire.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/message_wire.h"

namespace banyan {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Holds a chunk's envelope with a path and frames of usual length, so that the most frequent message asks the heap for
// nothing.
class EnvelopeOnStack {
 public:
  EnvelopeOnStack()
      : arena_(Options(block_)), envelope_(google::protobuf::Arena::CreateMessage<wire::Envelope>(&arena_)) {}

  wire::Envelope& operator*() { return *envelope_; }

 private:
  static constexpr size_t kBlockBytes = 2048;

  static google::protobuf::ArenaOptions Options(char* block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = kBlockBytes;
    return options;
  }

  alignas(8) char block_[kBlockBytes];
  google::protobuf::Arena arena_;
  wire::Envelope* envelope_;
};

absl::Status Malformed(int number, absl::string_view what) {
  const auto* field = wire::Envelope::descriptor()->FindFieldByNumber(number);
  return absl::InvalidArgumentError(
      absl::StrCat("malformed ", field == nullptr ? "message" : field->message_type()->name(), ": ", what));
}

size_t MaxHeaderBytes(int number, const WireLimits& limits) {
  switch (number) {
    case wire::Envelope::kChunk:
      return limits.max_chunk_header_bytes;
    case wire::Envelope::kRegisterKeys:
    case wire::Envelope::kKeysAssigned:
    case wire::Envelope::kStateManifest:
    case wire::Envelope::kPolicyPublished:
      return limits.max_key_table_bytes;
    case wire::Envelope::kTracePiece:
      return limits.max_trace_bytes;
    case wire::Envelope::kStatusReply:
    case wire::Envelope::kReconfigure:
      return limits.max_status_bytes;
    default:
      return limits.max_control_bytes;
  }
}

// An empty entry takes two bytes on the wire and twenty times as much when it is parsed: entries are counted before.
absl::Status CheckEntries(int number, CodedInputStream& body, const WireLimits& limits) {
  // No message has more fields.
  std::array<int, 64> entries = {};
  while (uint32_t tag = body.ReadTag()) {
    if (!WireFormatLite::SkipField(&body, tag)) return Malformed(number, "Protobuf expected, other bytes came");
    const auto field = static_cast<size_t>(WireFormatLite::GetTagFieldNumber(tag));
    if (++entries[std::min(field, entries.size() - 1)] > limits.max_entries) {
      return Malformed(number, absl::StrCat("at most ", limits.max_entries, " entries expected, more came"));
    }
  }
  return absl::OkStatus();
}

// The number in the envelope of the one message that `header` is. What is not one message from end to end, known and of
// bearable size is refused before it costs memory.
absl::StatusOr<int> MessageNumber(absl::string_view header, const WireLimits& limits) {
  const size_t size_bytes = std::min(header.size(), size_t{std::numeric_limits<int>::max()});
  CodedInputStream input(reinterpret_cast<const uint8_t*>(header.data()), static_cast<int>(size_bytes));
  const uint32_t tag = input.ReadTag();
  uint32_t length = 0;
  const bool begins =
      WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && input.ReadVarint32(&length);
  if (!begins) return Malformed(0, absl::StrCat("an envelope expected, ", header.size(), " other bytes came"));
  const int number = WireFormatLite::GetTagFieldNumber(tag);
  if (wire::Envelope::descriptor()->FindFieldByNumber(number) == nullptr) {
    return Malformed(number, absl::StrCat("number ", number, " is unknown to this version"));
  }
  const size_t limit = MaxHeaderBytes(number, limits);
  if (header.size() > limit || header.size() != size_bytes) {
    return Malformed(number, absl::StrCat("a header of at most ", limit, " bytes expected, ", header.size(), " came"));
  }
  const size_t rest = size_bytes - input.CurrentPosition();
  if (length != rest) return Malformed(number, absl::StrCat("a body of ", length, " bytes expected, ", rest, " came"));
  // The limit for chunk headers is low enough to let them go without this.
  if (number == wire::Envelope::kChunk) return number;
  if (absl::Status status = CheckEntries(number, input, limits); !status.ok()) return status;
  return number;
}

Message ReadMessage(const wire::Envelope& from, const Payload& payload, FieldReader fields) {
  switch (from.message_case()) {
    case wire::Envelope::kChunk:
      return ReadChunk(from.chunk(), payload, fields);
    case wire::Envelope::kPeerHello:
      return Read(from.peer_hello(), fields);
    case wire::Envelope::kLinkAck:
      return Read(from.link_ack(), fields);
    case wire::Envelope::kDeliveryAck:
      return Read(from.delivery_ack(), fields);
    case wire::Envelope::kBusy:
      return Read(from.busy(), fields);
    case wire::Envelope::kGrant:
      return Read(from.grant(), fields);
    case wire::Envelope::kPeerHeartbeat:
      return Read(from.peer_heartbeat(), fields);
    case wire::Envelope::kJoin:
      return Read(from.join(), fields);
    case wire::Envelope::kJoinAccepted:
      return Read(from.join_accepted(), fields);
    case wire::Envelope::kJoinRefused:
      return Read(from.join_refused(), fields);
    case wire::Envelope::kMembershipUpdate:
      return Read(from.membership_update(), fields);
    case wire::Envelope::kAccessList:
      return Read(from.access_list(), fields);
    case wire::Envelope::kHeartbeat:
      return Read(from.heartbeat(), fields);
    case wire::Envelope::kHeartbeatReply:
      return Read(from.heartbeat_reply(), fields);
    case wire::Envelope::kRegisterKeys:
      return Read(from.register_keys(), fields);
    case wire::Envelope::kKeysAssigned:
      return Read(from.keys_assigned(), fields);
    case wire::Envelope::kKeyRefused:
      return Read(from.key_refused(), fields);
    case wire::Envelope::kPolicyRequest:
      return Read(from.policy_request(), fields);
    case wire::Envelope::kPolicyAnswer:
      return Read(from.policy_answer(), fields);
    case wire::Envelope::kPolicyPublished:
      return Read(from.policy_published(), fields);
    case wire::Envelope::kRoundsClosed:
      return Read(from.rounds_closed(), fields);
    case wire::Envelope::kClosedEverywhere:
      return Read(from.closed_everywhere(), fields);
    case wire::Envelope::kBarrierEntered:
      return Read(from.barrier_entered(), fields);
    case wire::Envelope::kBarrierReleased:
      return Read(from.barrier_released(), fields);
    case wire::Envelope::kPeerLost:
      return Read(from.peer_lost(), fields);
    case wire::Envelope::kRoundBroken:
      return Read(from.round_broken(), fields);
    case wire::Envelope::kWorkerLost:
      return Read(from.worker_lost(), fields);
    case wire::Envelope::kCannotFollow:
      return Read(from.cannot_follow(), fields);
    case wire::Envelope::kLeave:
      return Read(from.leave(), fields);
    case wire::Envelope::kJobFailed:
      return Read(from.job_failed(), fields);
    case wire::Envelope::kNodeReport:
      return Read(from.node_report(), fields);
    case wire::Envelope::kStatusRequest:
      return Read(from.status_request(), fields);
    case wire::Envelope::kStatusReply:
      return Read(from.status_reply(), fields);
    case wire::Envelope::kPoliciesRetired:
      return Read(from.policies_retired(), fields);
    case wire::Envelope::kReconfigure:
      return Read(from.reconfigure(), fields);
    case wire::Envelope::kOperatorReply:
      return Read(from.operator_reply(), fields);
    case wire::Envelope::kGoAway:
      return Read(from.go_away(), fields);
    case wire::Envelope::kEpochBegin:
      return Read(from.epoch_begin(), fields);
    case wire::Envelope::kEpochReport:
      return Read(from.epoch_report(), fields);
    case wire::Envelope::kEpochPlan:
      return Read(from.epoch_plan(), fields);
    case wire::Envelope::kCutSought:
      return Read(from.cut_sought(), fields);
    case wire::Envelope::kCutBound:
      return Read(from.cut_bound(), fields);
    case wire::Envelope::kRoundsPushed:
      return Read(from.rounds_pushed(), fields);
    case wire::Envelope::kQuorumReached:
      return Read(from.quorum_reached(), fields);
    case wire::Envelope::kHealthReport:
      return Read(from.health_report(), fields);
    case wire::Envelope::kVetoLowBit:
      return Read(from.veto_low_bit(), fields);
    case wire::Envelope::kTraceRounds:
      return Read(from.trace_rounds(), fields);
    case wire::Envelope::kTraceOrder:
      return Read(from.trace_order(), fields);
    case wire::Envelope::kTraceReady:
      return Read(from.trace_ready(), fields);
    case wire::Envelope::kTracePiece:
      return Read(from.trace_piece(), fields);
    case wire::Envelope::kTraceEnd:
      return Read(from.trace_end(), fields);
    case wire::Envelope::kStopJob:
      return Read(from.stop_job(), fields);
    case wire::Envelope::kRemoveNode:
      return Read(from.remove_node(), fields);
    case wire::Envelope::kStateWanted:
      return Read(from.state_wanted(), fields);
    case wire::Envelope::kStateSought:
      return Read(from.state_sought(), fields);
    case wire::Envelope::kBoundaryHeld:
      return Read(from.boundary_held(), fields);
    case wire::Envelope::kNoState:
      return Read(from.no_state(), fields);
    case wire::Envelope::kStateHolders:
      return Read(from.state_holders(), fields);
    case wire::Envelope::kFetchEnded:
      return Read(from.fetch_ended(), fields);
    case wire::Envelope::kStateReleased:
      return Read(from.state_released(), fields);
    case wire::Envelope::kStateManifestWanted:
      return Read(from.state_manifest_wanted(), fields);
    case wire::Envelope::kStateManifest:
      return Read(from.state_manifest(), fields);
    case wire::Envelope::kStateRequest:
      return Read(from.state_request(), fields);
    case wire::Envelope::kWaitQuestion:
      return Read(from.wait_question(), fields);
    case wire::Envelope::kWaitAnswer:
      return Read(from.wait_answer(), fields);
    case wire::Envelope::kStateRefused:
      return Read(from.state_refused(), fields);
    case wire::Envelope::MESSAGE_NOT_SET:
      break;
  }
  fields.Refuse("message", "a message", "none");
  return StatusRequest{};
}

}  // namespace

std::string EncodeMessage(const Message& message) {
  EnvelopeOnStack envelope;
  std::visit([&envelope](const auto& alternative) { Write(alternative, *envelope); }, message);
  return (*envelope).SerializeAsString();
}

absl::StatusOr<Message> DecodeMessage(absl::string_view header, const Payload& payload, const WireLimits& limits) {
  const absl::StatusOr<int> number = MessageNumber(header, limits);
  if (!number.ok()) return number.status();
  if (*number != wire::Envelope::kChunk && !payload.empty()) {
    return Malformed(*number, absl::StrCat("no payload expected, ", payload.size(), " frames came"));
  }
  EnvelopeOnStack envelope;
  if (!(*envelope).ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    return Malformed(*number, "Protobuf expected, other bytes came");
  }
  absl::Status error;
  Message message = ReadMessage(*envelope, payload, FieldReader(limits, error));
  if (!error.ok()) return Malformed(*number, error.message());
  return message;
}

}  // namespace banyan
