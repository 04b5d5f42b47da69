#include "proto/session_codec.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/session.pb.h"
#include "proto/state_layout.h"

namespace banyan {
namespace {

constexpr size_t kMaxStatusTextBytes = 4096;
// More than a grouped tensor takes beside its name, or an envelope.
constexpr size_t kMostPartBytes = 24;

absl::Status MalformedCall(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed message between worker and node: ", what));
}

// ---- encoding ----

void Fill(const AttachWorker& from, session::WorkerMessage& to) {
  session::AttachWorker& attach = *to.mutable_attach();
  attach.set_protocol_version(from.protocol_version);
  attach.set_worker(from.worker.value());
  attach.set_call(from.call.value());
}

void Fill(const OpenTensor& from, session::WorkerMessage& to) {
  session::OpenTensor& open = *to.mutable_open_tensor();
  open.set_call(from.call.value());
  open.set_name(from.name);
  open.set_elements(from.elements);
  open.set_type(static_cast<uint32_t>(from.type));
}

void Fill(const DescribeGroup& from, session::WorkerMessage& to) {
  session::DescribeGroup& described = *to.mutable_describe_group();
  for (const TensorLayout::Part& part : from.parts) {
    session::DescribeGroup::Part& written = *described.add_parts();
    written.set_name(part.name);
    written.set_elements(part.elements);
  }
}

void Fill(const TensorCall& from, session::WorkerMessage& to) {
  session::TensorCall& call = *to.mutable_tensor_call();
  call.set_call(from.call.value());
  call.set_tensor(from.tensor.value());
  call.set_kind(static_cast<uint32_t>(from.kind));
  call.set_gradient_slot(from.gradient_slot);
  call.set_result_slot(from.result_slot);
  call.set_priority(from.priority);
  call.set_not_finite(from.not_finite);
}

void Fill(const BarrierCall& from, session::WorkerMessage& to) { to.mutable_barrier()->set_call(from.call.value()); }

void Fill(const ReportLossCall& from, session::WorkerMessage& to) {
  session::ReportLossCall& report = *to.mutable_report_loss();
  report.set_call(from.call.value());
  report.set_step(from.step);
  report.set_loss(from.loss);
  report.set_progress(from.progress);
  report.set_learning_rate_fraction(from.learning_rate_fraction);
  if (from.metric.has_value()) report.set_metric(*from.metric);
}

void Fill(const DescribeWait& from, session::WorkerMessage& to) {
  to.mutable_describe_wait()->set_call(from.call.value());
  to.mutable_describe_wait()->set_key(from.key);
}

void Fill(const WorkerGoodBye&, session::WorkerMessage& to) { to.mutable_good_bye(); }

void Fill(const DescribeState& from, session::WorkerMessage& to) {
  session::DescribeState& described = *to.mutable_describe_state();
  for (const StateShape::Part& part : from.parts) {
    session::DescribeState::Part& written = *described.add_parts();
    written.set_name(part.name);
    written.set_size_bytes(part.size_bytes);
  }
}

void Fill(const ShareStateCall& from, session::WorkerMessage& to) {
  to.mutable_share_state()->set_call(from.call.value());
}

void Fill(const BoundaryCall& from, session::WorkerMessage& to) {
  to.mutable_boundary()->set_call(from.call.value());
  to.mutable_boundary()->set_step(from.step);
}

void Fill(const LeaveBoundary&, session::WorkerMessage& to) { to.mutable_leave_boundary(); }

void Fill(const FetchStateCall& from, session::WorkerMessage& to) {
  to.mutable_fetch_state()->set_call(from.call.value());
  to.mutable_fetch_state()->set_timeout_ns(absl::ToInt64Nanoseconds(from.timeout));
}

void Fill(const StateFilled& from, session::WorkerMessage& to) {
  to.mutable_state_filled()->set_slot(from.slot);
  to.mutable_state_filled()->set_is_filled(from.is_filled);
}

void Fill(const StateTaken& from, session::WorkerMessage& to) {
  to.mutable_state_taken()->set_slot(from.slot);
  to.mutable_state_taken()->set_is_taken(from.is_taken);
}

void FillStatus(const absl::Status& from, session::Status& to) {
  to.set_code(static_cast<uint32_t>(from.code()));
  to.set_message(std::string(from.message().substr(0, kMaxStatusTextBytes)));
}

void Fill(const WorkerAttached& from, session::WorkerReply& to) {
  session::WorkerAttached& attached = *to.mutable_attached();
  attached.set_call(from.call.value());
  attached.set_node_name(from.node_name);
  attached.set_rounds_in_flight(from.rounds_in_flight);
  attached.set_aggregation_op(static_cast<uint32_t>(from.job.op));
  attached.set_may_leave_out(from.job.may_leave_out);
}

void Fill(const TensorOpened& from, session::WorkerReply& to) {
  session::TensorOpened& opened = *to.mutable_tensor_opened();
  opened.set_call(from.call.value());
  opened.set_tensor(from.tensor.value());
  opened.set_elements(from.elements);
  opened.set_gradient_slots(from.gradient_slots);
  opened.set_result_slots(from.result_slots);
  opened.set_type(static_cast<uint32_t>(from.type));
}

void Fill(const CallCompleted& from, session::WorkerReply& to) {
  session::CallCompleted& completed = *to.mutable_call_completed();
  completed.set_call(from.call.value());
  FillStatus(from.status, *completed.mutable_status());
  completed.set_round(from.round.value());
  completed.set_step(from.step);
}

void Fill(const SlotFreed& from, session::WorkerReply& to) {
  session::SlotFreed& freed = *to.mutable_slot_freed();
  freed.set_tensor(from.tensor.value());
  freed.set_gradient_slot(from.gradient_slot);
}

void Fill(const RoundCompleted& from, session::WorkerReply& to) {
  session::RoundCompleted& completed = *to.mutable_round_completed();
  completed.set_tensor(from.tensor.value());
  completed.set_round(from.round.value());
}

void Fill(const JobEnded& from, session::WorkerReply& to) {
  FillStatus(from.reason, *to.mutable_job_ended()->mutable_reason());
}

void Fill(const WorkerMessageRejected& from, session::WorkerReply& to) {
  FillStatus(from.reason, *to.mutable_rejected()->mutable_reason());
}

void Fill(const StateOpened& from, session::WorkerReply& to) {
  session::StateOpened& opened = *to.mutable_state_opened();
  opened.set_call(from.call.value());
  opened.set_slot_bytes(from.slot_bytes);
  opened.set_slots(from.slots);
}

void Fill(const HoldAtBoundary& from, session::WorkerReply& to) { to.mutable_hold()->set_is_held(from.is_held); }

void Fill(const StateRead& from, session::WorkerReply& to) {
  to.mutable_state_read()->set_slot(from.slot);
  to.mutable_state_read()->set_chunk(from.chunk.value());
}

void Fill(const StateHashesRead& from, session::WorkerReply& to) {
  to.mutable_state_hashes_read()->set_slot(from.slot);
}

void Fill(const StateWrite& from, session::WorkerReply& to) {
  to.mutable_state_write()->set_slot(from.slot);
  to.mutable_state_write()->set_chunk(from.chunk.value());
}

template <typename Envelope, typename Variant>
std::string Encode(const Variant& message) {
  Envelope envelope;
  std::visit([&envelope](const auto& alternative) { Fill(alternative, envelope); }, message);
  return envelope.SerializeAsString();
}

// ---- decoding ----

absl::Status CheckElements(int64_t elements) {
  if (elements > 0 && elements <= kMaxTensorElements) return absl::OkStatus();
  return MalformedCall(absl::StrCat("expected 1 to ", kMaxTensorElements, " elements, got ", elements));
}

absl::Status CheckType(uint32_t type) {
  if (type <= static_cast<uint32_t>(kLastElementType)) return absl::OkStatus();
  return MalformedCall(absl::StrCat("unknown type of elements ", type));
}

absl::Status CheckSlot(uint32_t slot) {
  if (slot < kMaxTensorSlots) return absl::OkStatus();
  return MalformedCall(absl::StrCat("expected a slot below ", kMaxTensorSlots, ", got ", slot));
}

absl::StatusOr<WorkerMessage> Read(const session::AttachWorker& from) {
  return AttachWorker{from.protocol_version(), WorkerId(from.worker()), CallId(from.call())};
}

absl::StatusOr<WorkerMessage> Read(const session::OpenTensor& from) {
  if (absl::Status status = CheckTensorName(from.name()); !status.ok()) return status;
  const absl::Status elements = from.elements() == 0 ? absl::OkStatus() : CheckElements(from.elements());
  if (!elements.ok()) return elements;
  if (absl::Status type = CheckType(from.type()); !type.ok()) return type;
  return OpenTensor{CallId(from.call()), from.name(), from.elements(), static_cast<DataType>(from.type())};
}

absl::StatusOr<WorkerMessage> Read(const session::DescribeGroup& from) {
  DescribeGroup described;
  for (const session::DescribeGroup::Part& part : from.parts()) {
    if (absl::Status status = CheckTensorName(part.name()); !status.ok()) return status;
    if (part.elements() < 0 || part.elements() > kMaxTensorElements) {
      return MalformedCall(
          absl::StrCat("expected 0 to ", kMaxTensorElements, " elements of a grouped tensor, got ", part.elements()));
    }
    described.parts.push_back({part.name(), part.elements()});
  }
  return described;
}

absl::StatusOr<WorkerMessage> Read(const session::TensorCall& from) {
  if (from.kind() > static_cast<uint32_t>(kLastTensorCallKind)) {
    return MalformedCall(absl::StrCat("unknown kind of call ", from.kind()));
  }
  if (absl::Status status = CheckSlot(from.gradient_slot()); !status.ok()) return status;
  if (absl::Status status = CheckSlot(from.result_slot()); !status.ok()) return status;
  if (from.not_finite() > static_cast<uint64_t>(kMaxTensorElements)) {
    return MalformedCall(
        absl::StrCat("expected at most ", kMaxTensorElements, " values that are not finite, got ", from.not_finite()));
  }
  return TensorCall{CallId(from.call()),  TensorId(from.tensor()), static_cast<TensorCallKind>(from.kind()),
                    from.gradient_slot(), from.result_slot(),      from.priority(),
                    from.not_finite()};
}

absl::StatusOr<WorkerMessage> Read(const session::ReportLossCall& from) {
  // A number that is none says nothing of a share.
  const auto share = [](double value) { return value >= 0 && value <= 1 ? value : 0; };
  ReportLossCall report{CallId(from.call()), from.step(), from.loss(), share(from.progress())};
  report.learning_rate_fraction = share(from.learning_rate_fraction());
  if (from.has_metric()) report.metric = from.metric();
  return report;
}

absl::StatusOr<WorkerMessage> Read(const session::DescribeWait& from) {
  const absl::Status name = from.key().empty() ? absl::OkStatus() : CheckTensorName(from.key());
  if (!name.ok()) return name;
  return DescribeWait{CallId(from.call()), from.key()};
}

absl::StatusOr<WorkerMessage> Read(const session::DescribeState& from) {
  DescribeState described;
  for (const session::DescribeState::Part& part : from.parts()) {
    if (absl::Status status = CheckTensorName(part.name()); !status.ok()) return status;
    if (part.size_bytes() < 1 || part.size_bytes() > StateLayout::kMostBytes) {
      return MalformedCall(
          absl::StrCat("expected 1 to ", StateLayout::kMostBytes, " bytes of a part, got ", part.size_bytes()));
    }
    described.parts.push_back({part.name(), part.size_bytes()});
  }
  return described;
}

absl::StatusOr<WorkerMessage> Read(const session::FetchStateCall& from) {
  FetchStateCall call{CallId(from.call()), absl::Nanoseconds(from.timeout_ns())};
  if (from.timeout_ns() < 0) return MalformedCall(absl::StrCat("expected a time-out from 0, got ", from.timeout_ns()));
  if (from.timeout_ns() == std::numeric_limits<int64_t>::max()) call.timeout = absl::InfiniteDuration();
  return call;
}

absl::StatusOr<WorkerMessage> Read(const session::StateFilled& from) {
  if (absl::Status status = CheckSlot(from.slot()); !status.ok()) return status;
  return StateFilled{from.slot(), from.is_filled()};
}

absl::StatusOr<WorkerMessage> Read(const session::StateTaken& from) {
  if (absl::Status status = CheckSlot(from.slot()); !status.ok()) return status;
  return StateTaken{from.slot(), from.is_taken()};
}

absl::Status ReadStatus(const session::Status& from, absl::Status& to) {
  if (from.code() > static_cast<uint32_t>(absl::StatusCode::kUnauthenticated))
    return MalformedCall(absl::StrCat("unknown status code ", from.code()));
  to = absl::Status(static_cast<absl::StatusCode>(from.code()), from.message());
  return absl::OkStatus();
}

absl::StatusOr<WorkerReply> Read(const session::WorkerAttached& from) {
  const uint32_t rounds = from.rounds_in_flight();
  if (rounds == 0 || rounds >= kMaxTensorSlots)
    return MalformedCall(absl::StrCat("expected 1 to ", kMaxTensorSlots - 1, " rounds in flight, got ", rounds));
  const uint32_t op = from.has_aggregation_op() ? from.aggregation_op() : static_cast<uint32_t>(AggregationOp::kMean);
  if (op > static_cast<uint32_t>(AggregationOp::kAdam)) return MalformedCall(absl::StrCat("unknown operation ", op));
  const JobTraits job = {static_cast<AggregationOp>(op), from.may_leave_out()};
  return WorkerAttached{CallId(from.call()), from.node_name(), rounds, job};
}

absl::StatusOr<WorkerReply> Read(const session::TensorOpened& from) {
  if (absl::Status status = CheckElements(from.elements()); !status.ok()) return status;
  if (absl::Status type = CheckType(from.type()); !type.ok()) return type;
  const auto [least, most] = std::minmax({from.gradient_slots(), from.result_slots()});
  if (least == 0 || most > kMaxTensorSlots)
    return MalformedCall(absl::StrCat("expected 1 to ", kMaxTensorSlots, " slots, got ", least, " and ", most));
  return TensorOpened{CallId(from.call()),   TensorId(from.tensor()), from.elements(),
                      from.gradient_slots(), from.result_slots(),     static_cast<DataType>(from.type())};
}

absl::StatusOr<WorkerReply> Read(const session::CallCompleted& from) {
  CallCompleted completed{CallId(from.call()), absl::OkStatus(), Round(from.round()), from.step()};
  if (absl::Status status = ReadStatus(from.status(), completed.status); !status.ok()) return status;
  return completed;
}

absl::StatusOr<WorkerReply> Read(const session::SlotFreed& from) {
  if (absl::Status status = CheckSlot(from.gradient_slot()); !status.ok()) return status;
  return SlotFreed{TensorId(from.tensor()), from.gradient_slot()};
}

absl::StatusOr<WorkerReply> Read(const session::RoundCompleted& from) {
  if (from.round() == 0) return MalformedCall("expected a round from 1, got 0, which is an Init's");
  return RoundCompleted{TensorId(from.tensor()), Round(from.round())};
}

absl::StatusOr<WorkerReply> Read(const session::JobEnded& from) {
  JobEnded ended;
  if (absl::Status status = ReadStatus(from.reason(), ended.reason); !status.ok()) return status;
  if (ended.reason.ok()) return MalformedCall("expected the error that ended the job, got OK");
  return ended;
}

absl::StatusOr<WorkerReply> Read(const session::StateOpened& from) {
  constexpr int64_t kAlignmentBytes = 8;
  if (from.slot_bytes() < 1 || from.slot_bytes() > StateLayout::kMostChunkBytes ||
      from.slot_bytes() % kAlignmentBytes != 0) {
    return MalformedCall(
        absl::StrCat("expected slots of 8 to ", StateLayout::kMostChunkBytes, " bytes, got ", from.slot_bytes()));
  }
  if (from.slots() == 0 || from.slots() > kMaxTensorSlots) {
    return MalformedCall(absl::StrCat("expected 1 to ", kMaxTensorSlots, " slots, got ", from.slots()));
  }
  return StateOpened{CallId(from.call()), from.slot_bytes(), from.slots()};
}

// Whether there is such a chunk, the session knows.
absl::StatusOr<WorkerReply> Read(const session::StateRead& from) {
  if (absl::Status status = CheckSlot(from.slot()); !status.ok()) return status;
  return StateRead{from.slot(), ChunkIndex(from.chunk())};
}

absl::StatusOr<WorkerReply> Read(const session::StateHashesRead& from) {
  if (absl::Status status = CheckSlot(from.slot()); !status.ok()) return status;
  return StateHashesRead{from.slot()};
}

absl::StatusOr<WorkerReply> Read(const session::StateWrite& from) {
  if (absl::Status status = CheckSlot(from.slot()); !status.ok()) return status;
  return StateWrite{from.slot(), ChunkIndex(from.chunk())};
}

absl::StatusOr<WorkerReply> Read(const session::WorkerMessageRejected& from) {
  WorkerMessageRejected rejected;
  if (absl::Status status = ReadStatus(from.reason(), rejected.reason); !status.ok()) return status;
  return rejected;
}

template <typename Envelope>
absl::StatusOr<Envelope> Parse(absl::string_view bytes) {
  if (bytes.size() > kMaxSessionMessageBytes) {
    return MalformedCall(absl::StrCat("expected at most ", kMaxSessionMessageBytes, " bytes, got ", bytes.size()));
  }
  Envelope envelope;
  if (!envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return MalformedCall(absl::StrCat(bytes.size(), " bytes that are no Protobuf message of this kind"));
  }
  return envelope;
}

}  // namespace

absl::Status CheckTensorName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxTensorNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a key's name has 1 to ", kMaxTensorNameBytes, " characters, this one ", name.size()));
  }
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) return absl::InvalidArgumentError("a key's name is made of printable ASCII characters only");
  return absl::OkStatus();
}

std::vector<DescribeGroup> DescribeInMessages(const TensorLayout& layout) {
  std::vector<DescribeGroup> messages;
  size_t bytes = kMaxSessionMessageBytes;
  for (const TensorLayout::Part& part : layout.parts) {
    bytes += part.name.size() + kMostPartBytes;
    if (bytes > kMaxSessionMessageBytes) {
      messages.emplace_back();
      bytes = part.name.size() + 2 * kMostPartBytes;
    }
    messages.back().parts.push_back(part);
  }
  return messages;
}

std::string EncodeWorkerMessage(const WorkerMessage& message) { return Encode<session::WorkerMessage>(message); }

std::string EncodeWorkerReply(const WorkerReply& reply) { return Encode<session::WorkerReply>(reply); }

absl::StatusOr<WorkerMessage> DecodeWorkerMessage(absl::string_view bytes) {
  absl::StatusOr<session::WorkerMessage> envelope = Parse<session::WorkerMessage>(bytes);
  if (!envelope.ok()) return envelope.status();
  switch (envelope->message_case()) {
    case session::WorkerMessage::kAttach:
      return Read(envelope->attach());
    case session::WorkerMessage::kOpenTensor:
      return Read(envelope->open_tensor());
    case session::WorkerMessage::kTensorCall:
      return Read(envelope->tensor_call());
    case session::WorkerMessage::kBarrier:
      return BarrierCall{CallId(envelope->barrier().call())};
    case session::WorkerMessage::kReportLoss:
      return Read(envelope->report_loss());
    case session::WorkerMessage::kGoodBye:
      return WorkerGoodBye{};
    case session::WorkerMessage::kDescribeWait:
      return Read(envelope->describe_wait());
    case session::WorkerMessage::kDescribeGroup:
      return Read(envelope->describe_group());
    case session::WorkerMessage::kDescribeState:
      return Read(envelope->describe_state());
    case session::WorkerMessage::kShareState:
      return ShareStateCall{CallId(envelope->share_state().call())};
    case session::WorkerMessage::kBoundary:
      return BoundaryCall{CallId(envelope->boundary().call()), envelope->boundary().step()};
    case session::WorkerMessage::kLeaveBoundary:
      return LeaveBoundary{};
    case session::WorkerMessage::kFetchState:
      return Read(envelope->fetch_state());
    case session::WorkerMessage::kStateFilled:
      return Read(envelope->state_filled());
    case session::WorkerMessage::kStateTaken:
      return Read(envelope->state_taken());
    case session::WorkerMessage::MESSAGE_NOT_SET:
      break;
  }
  return MalformedCall("an envelope without a message that this version knows");
}

absl::StatusOr<WorkerReply> DecodeWorkerReply(absl::string_view bytes) {
  absl::StatusOr<session::WorkerReply> envelope = Parse<session::WorkerReply>(bytes);
  if (!envelope.ok()) return envelope.status();
  switch (envelope->message_case()) {
    case session::WorkerReply::kAttached:
      return Read(envelope->attached());
    case session::WorkerReply::kTensorOpened:
      return Read(envelope->tensor_opened());
    case session::WorkerReply::kCallCompleted:
      return Read(envelope->call_completed());
    case session::WorkerReply::kSlotFreed:
      return Read(envelope->slot_freed());
    case session::WorkerReply::kRoundCompleted:
      return Read(envelope->round_completed());
    case session::WorkerReply::kJobEnded:
      return Read(envelope->job_ended());
    case session::WorkerReply::kRejected:
      return Read(envelope->rejected());
    case session::WorkerReply::kStateOpened:
      return Read(envelope->state_opened());
    case session::WorkerReply::kHold:
      return HoldAtBoundary{envelope->hold().is_held()};
    case session::WorkerReply::kStateRead:
      return Read(envelope->state_read());
    case session::WorkerReply::kStateHashesRead:
      return Read(envelope->state_hashes_read());
    case session::WorkerReply::kStateWrite:
      return Read(envelope->state_write());
    case session::WorkerReply::MESSAGE_NOT_SET:
      break;
  }
  return MalformedCall("an envelope without a message that this version knows");
}

}  // namespace banyan
