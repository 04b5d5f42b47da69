// The messages between a training process and its node; tensors themselves travel through shared memory. Values;
// thread-compatible.
//
// Invariants:
// - The worker opens with AttachWorker.
// - Each message with a `call`, a number that the worker chooses, is answered by exactly one WorkerAttached,
//   TensorOpened or CallCompleted with the same number.
// - A tensor's memory is a row of gradient slots followed by a row of result slots. The worker chooses each call's
//   slots. A gradient slot is the node's from the call until its SlotFreed, a result slot until its CallCompleted.
// - A worker's training state is in its own memory, and travels through the slots of a segment of its own: a row that
//   the worker fills, then a row that the node fills. The node chooses the slots. It touches a slot only when the
//   worker has answered, and the worker only then.
// - The worker hears of the end of each round that it pushed: by the CallCompleted of a call that asks for the result,
//   or else by a RoundCompleted, which comes after the push's own CallCompleted.
#ifndef BANYAN_PROTO_SESSION_MESSAGES_H_
#define BANYAN_PROTO_SESSION_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/data_type.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/fields.h"
#include "proto/job_config.h"
#include "proto/peer_messages.h"
#include "proto/state_layout.h"
#include "proto/state_messages.h"

namespace banyan {

// A call of a worker that waits for its answer; chosen by the worker, unique on its connection.
using CallId = StrongId<struct CallIdTag, uint64_t>;
// A tensor's shared memory on one worker's connection; chosen by the node.
using TensorId = StrongId<struct TensorIdTag, uint64_t>;

inline constexpr size_t kMaxTensorNameBytes = 1024;
inline constexpr int64_t kMaxTensorElements = int64_t{1} << 40;
inline constexpr uint32_t kMaxTensorSlots = 64;
inline constexpr Range kSlot = {0u, kMaxTensorSlots - 1};

// INVALID_ARGUMENT unless it has 1 to kMaxTensorNameBytes characters, all of them printable ASCII.
absl::Status CheckTensorName(absl::string_view name);

template <typename Visitor>
void TensorNameField(Visitor& v, int number, const char* field, std::string& name, bool may_be_empty = false) {
  v(number, field, name);
  v.Check([&](FieldReader& fields) {
    if (name.empty() && may_be_empty) return;
    fields.Expect(CheckTensorName(name).ok(), field,
                  absl::StrCat("a key's name of 1 to ", kMaxTensorNameBytes, " printable ASCII characters"),
                  absl::StrCat(name.size(), " characters"));
  });
}

// A longer text is cut, so that it arrives.
template <typename Visitor>
void Fields(Visitor& v, absl::Status& m) {
  absl::StatusCode code = m.code();
  std::string text(m.message());
  v(1, "code", code, Range{absl::StatusCode::kOk, absl::StatusCode::kUnauthenticated});
  v(2, "message", text, kReason);
  if constexpr (Visitor::kReads) m = absl::Status(code, text);
}

// ---- worker to node ----

struct AttachWorker {
  uint32_t protocol_version = kProtocolVersion;
  WorkerId worker;
  CallId call;
  friend bool operator==(const AttachWorker&, const AttachWorker&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, AttachWorker& m) {
  v(1, "protocol_version", m.protocol_version);
  v(2, "worker", m.worker);
  v(3, "call", m.call);
}

// Names further tensors of the group that the next OpenTensor opens.
struct DescribeGroup {
  std::vector<TensorLayout::Part> parts;
  friend bool operator==(const DescribeGroup&, const DescribeGroup&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, DescribeGroup& m) {
  v.List(1, "parts", m.parts, [](auto& within, TensorLayout::Part& part) {
    TensorNameField(within, 1, "name", part.name);
    within(2, "elements", part.elements, Range{int64_t{0}, kMaxTensorElements});
  });
}

// Asks for the shared memory of a key's tensor: of the group, if tensors have been named for one. Of one without
// elements it tells that the worker has tried this.
struct OpenTensor {
  CallId call;
  std::string name;
  int64_t elements = 0;
  DataType type = DataType::kFloat32;
  friend bool operator==(const OpenTensor&, const OpenTensor&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, OpenTensor& m) {
  v(1, "call", m.call);
  TensorNameField(v, 2, "name", m.name);
  v(3, "elements", m.elements, Range{int64_t{0}, kMaxTensorElements});
  v(4, "type", m.type, UpTo{kLastElementType});
}

enum class TensorCallKind : uint8_t { kInit, kPush, kPull, kPushPull, kBroadcast, kFlush, kRegisterWeights };
// The greatest of them.
inline constexpr TensorCallKind kLastTensorCallKind = TensorCallKind::kRegisterWeights;
inline bool HasGradient(TensorCallKind kind) { return kind != TensorCallKind::kPull; }
inline bool HasResult(TensorCallKind kind) {
  return kind != TensorCallKind::kPush && kind != TensorCallKind::kRegisterWeights;
}
// Says whether a call of this kind belongs to a round: a new one, or one that has begun.
inline bool IsOfARound(TensorCallKind kind) { return kind != TensorCallKind::kRegisterWeights; }
// Says whether a call of this kind begins the key's next round.
inline bool OpensRound(TensorCallKind kind) {
  return IsOfARound(kind) && kind != TensorCallKind::kInit && kind != TensorCallKind::kPull;
}

// An operation on an opened tensor. Pull has no gradient slot, Push and RegisterWeights no result slot; Init's values,
// Broadcast's and RegisterWeights' are in the gradient slot. A slot that the kind does not have is 0.
struct TensorCall {
  CallId call;
  TensorId tensor;
  TensorCallKind kind = TensorCallKind::kPushPull;
  uint32_t gradient_slot = 0;
  uint32_t result_slot = 0;
  int32_t priority = 0;
  uint64_t not_finite = 0;  // values of a gradient that are NaN or infinite; 0 for what is no gradient
  friend bool operator==(const TensorCall&, const TensorCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TensorCall& m) {
  v(1, "call", m.call);
  v(2, "tensor", m.tensor);
  v(3, "kind", m.kind, UpTo{kLastTensorCallKind});
  v(4, "gradient_slot", m.gradient_slot, kSlot);
  v(5, "result_slot", m.result_slot, kSlot);
  v(6, "priority", ZigZag(m.priority));
  v(7, "not_finite", m.not_finite, Range{uint64_t{0}, static_cast<uint64_t>(kMaxTensorElements)});
}

struct BarrierCall {
  CallId call;
  friend bool operator==(const BarrierCall&, const BarrierCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, BarrierCall& m) {
  v(1, "call", m.call);
}

struct ReportLossCall {
  CallId call;
  uint64_t step = 0;
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better
  friend bool operator==(const ReportLossCall&, const ReportLossCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, ReportLossCall& m) {
  v(1, "call", m.call);
  v(2, "step", m.step);
  v(3, "loss", m.loss);
  v(4, "progress", m.progress);
  v(5, "learning_rate_fraction", m.learning_rate_fraction);
  v(6, "metric", m.metric);
  v.Check([&m](FieldReader&) {
    // A number that is none says nothing of a share.
    for (double* share : {&m.progress, &m.learning_rate_fraction}) *share = *share >= 0 && *share <= 1 ? *share : 0;
  });
}

// Asks for whom this worker's oldest call of a key waits. The answer is a CallCompleted whose status says it; an OK
// one, if the node knows of no such call.
struct DescribeWait {
  CallId call;
  std::string key = {};  // its name; empty: a call that concerns no key
  friend bool operator==(const DescribeWait&, const DescribeWait&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, DescribeWait& m) {
  v(1, "call", m.call);
  TensorNameField(v, 2, "key", m.key, /*may_be_empty=*/true);
}

// Names further parts of the worker's training state, for the ShareStateCall that follows.
struct DescribeState {
  std::vector<StateShape::Part> parts;
  friend bool operator==(const DescribeState&, const DescribeState&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, DescribeState& m) {
  v.List(1, "parts", m.parts, [](auto& within, StateShape::Part& part) {
    TensorNameField(within, 1, "name", part.name);
    within(2, "size_bytes", part.size_bytes, Range{int64_t{1}, StateLayout::kMostBytes});
  });
}

// All parts are named. Answered by StateOpened, or a failed CallCompleted.
struct ShareStateCall {
  CallId call;
  friend bool operator==(const ShareStateCall&, const ShareStateCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, ShareStateCall& m) {
  v(1, "call", m.call);
}

// The worker waits at a boundary, with the state after `step` in its memory. Completed when it may go on.
struct BoundaryCall {
  CallId call;
  uint64_t step = 0;
  friend bool operator==(const BoundaryCall&, const BoundaryCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, BoundaryCall& m) {
  v(1, "call", m.call);
  v(2, "step", m.step);
}

// The worker waits at its boundary no longer: its state will change.
struct LeaveBoundary {
  friend bool operator==(const LeaveBoundary&, const LeaveBoundary&) = default;
};

template <typename Visitor>
void Fields(Visitor&, LeaveBoundary&) {}

// Completed with the step whose state is in the worker's memory now. The node gives up after `timeout`.
struct FetchStateCall {
  CallId call;
  absl::Duration timeout = absl::InfiniteDuration();
  friend bool operator==(const FetchStateCall&, const FetchStateCall&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, FetchStateCall& m) {
  v(1, "call", m.call);
  v(2, "timeout", m.timeout);
  v.Check([&m](FieldReader& fields) {
    fields.Expect(m.timeout >= absl::ZeroDuration(), "timeout", "0 or longer", absl::FormatDuration(m.timeout));
    // The longest that travels stands for no end.
    const bool is_longest = absl::ToInt64Nanoseconds(m.timeout) == std::numeric_limits<int64_t>::max();
    if (is_longest) m.timeout = absl::InfiniteDuration();
  });
}

// Answers StateRead and StateHashesRead. Not filled: the state is not to be had any more.
struct StateFilled {
  uint32_t slot = 0;
  bool is_filled = true;
  friend bool operator==(const StateFilled&, const StateFilled&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateFilled& m) {
  v(1, "slot", m.slot, kSlot);
  v(2, "is_filled", m.is_filled);
}

// Answers StateWrite: the worker has copied the slot into its memory, or has no use for it any more.
struct StateTaken {
  uint32_t slot = 0;
  bool is_taken = true;
  friend bool operator==(const StateTaken&, const StateTaken&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateTaken& m) {
  v(1, "slot", m.slot, kSlot);
  v(2, "is_taken", m.is_taken);
}

// The worker closes on purpose; without it a closed connection is a dead worker.
struct WorkerGoodBye {
  friend bool operator==(const WorkerGoodBye&, const WorkerGoodBye&) = default;
};

template <typename Visitor>
void Fields(Visitor&, WorkerGoodBye&) {}

using WorkerMessage = std::variant<AttachWorker, OpenTensor, TensorCall, BarrierCall, ReportLossCall, WorkerGoodBye,
                                   DescribeState, ShareStateCall, BoundaryCall, LeaveBoundary, FetchStateCall,
                                   StateFilled, StateTaken, DescribeWait, DescribeGroup>;

// ---- node to worker ----

// What overlay.yaml calls the operations of a job, and sessions too; by their numbers.
inline constexpr std::array<absl::string_view, 6> kAggregationOpNames = {"sum",      "mean",     "sgd",
                                                                         "momentum", "nesterov", "adam"};

inline absl::string_view NameOf(AggregationOp op) { return kAggregationOpNames[static_cast<size_t>(op)]; }

// The worker is attached.
struct WorkerAttached {
  CallId call;
  std::string node_name;
  uint32_t rounds_in_flight = 1;
  JobTraits job;  // a node of an older kind says none
  friend bool operator==(const WorkerAttached&, const WorkerAttached&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, WorkerAttached& m) {
  v(1, "call", m.call);
  v(2, "node_name", m.node_name);
  v(3, "rounds_in_flight", m.rounds_in_flight, Range{1u, kMaxTensorSlots - 1});
  v(4, "aggregation_op", Explicit(m.job.op), UpTo{AggregationOp::kAdam});
  v(5, "may_leave_out", m.job.may_leave_out);
}

// Over a socket the memory's file descriptor comes beside the message.
struct TensorOpened {
  CallId call;
  TensorId tensor;
  int64_t elements = 0;
  uint32_t gradient_slots = 0;
  uint32_t result_slots = 0;
  DataType type = DataType::kFloat32;
  friend bool operator==(const TensorOpened&, const TensorOpened&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TensorOpened& m) {
  constexpr Range kSlots = {1u, kMaxTensorSlots};
  v(1, "call", m.call);
  v(2, "tensor", m.tensor);
  v(3, "elements", m.elements, Range{int64_t{1}, kMaxTensorElements});
  v(4, "gradient_slots", m.gradient_slots, kSlots);
  v(5, "result_slots", m.result_slots, kSlots);
  v(6, "type", m.type, UpTo{kLastElementType});
}

struct CallCompleted {
  CallId call;
  absl::Status status;
  Round round;
  uint64_t step = 0;  // of a FetchStateCall
  friend bool operator==(const CallCompleted&, const CallCompleted&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, CallCompleted& m) {
  v(1, "call", m.call);
  v(2, "status", m.status);
  v(3, "round", m.round);
  v(4, "step", m.step);
}

struct SlotFreed {
  TensorId tensor;
  uint32_t gradient_slot = 0;
  friend bool operator==(const SlotFreed&, const SlotFreed&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, SlotFreed& m) {
  v(1, "tensor", m.tensor);
  v(2, "gradient_slot", m.gradient_slot, kSlot);
}

// A round of the tensor is over that the worker pushed without asking for its result.
struct RoundCompleted {
  TensorId tensor;
  Round round;  // from 1
  friend bool operator==(const RoundCompleted&, const RoundCompleted&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RoundCompleted& m) {
  v(1, "tensor", m.tensor);
  // Round 0 is an Init's.
  v(2, "round", m.round, kNonZero);
}

// No round of the job can finish any more. Calls that wait get their own CallCompleted after this.
struct JobEnded {
  absl::Status reason;  // not OK
  friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JobEnded& m) {
  v(1, "reason", m.reason);
  v.Check([&m](FieldReader& fields) { fields.Expect(!m.reason.ok(), "reason", "the error that ended the job", "OK"); });
}

// Who the members of the job are, once the worker is attached and it has started, and whenever they change. Many come
// in several messages, one behind the other.
struct MembersChanged {
  static constexpr size_t kMost = 128;
  Epoch epoch;
  std::vector<JobMember> members;  // in order of NodeId
  bool has_more = false;
  friend bool operator==(const MembersChanged&, const MembersChanged&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, MembersChanged& m) {
  v(1, "epoch", m.epoch, kNonZero);
  v(2, "members", m.members, Entries{1, static_cast<int>(MembersChanged::kMost)});
  v(3, "has_more", m.has_more);
}

// Over a socket the memory's file descriptor comes beside the message.
struct StateOpened {
  CallId call;
  int64_t slot_bytes = 0;
  uint32_t slots = 0;  // in each row
  friend bool operator==(const StateOpened&, const StateOpened&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateOpened& m) {
  v(1, "call", m.call);
  v(2, "slot_bytes", m.slot_bytes, Range{int64_t{8}, StateLayout::kMostChunkBytes});
  v(3, "slots", m.slots, Range{1u, kMaxTensorSlots});
  v.Check([&m](FieldReader& fields) {
    fields.Expect(m.slot_bytes % 8 == 0, "slot_bytes", "a multiple of 8", absl::StrCat(m.slot_bytes));
  });
}

// From now on the worker waits at boundaries with a BoundaryCall, or passes them without a word.
struct HoldAtBoundary {
  bool is_held = false;
  friend bool operator==(const HoldAtBoundary&, const HoldAtBoundary&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, HoldAtBoundary& m) {
  v(1, "is_held", m.is_held);
}

// Fill this slot with a chunk of the state.
struct StateRead {
  uint32_t slot = 0;
  ChunkIndex chunk;
  friend bool operator==(const StateRead&, const StateRead&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateRead& m) {
  // Whether there is such a chunk, the session knows.
  v(1, "slot", m.slot, kSlot);
  v(2, "chunk", m.chunk);
}

// Fill this slot with the hash of each chunk of the state.
struct StateHashesRead {
  uint32_t slot = 0;
  friend bool operator==(const StateHashesRead&, const StateHashesRead&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateHashesRead& m) {
  v(1, "slot", m.slot, kSlot);
}

// This slot has a chunk of the state: take it.
struct StateWrite {
  uint32_t slot = 0;
  ChunkIndex chunk;
  friend bool operator==(const StateWrite&, const StateWrite&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StateWrite& m) {
  v(1, "slot", m.slot, kSlot);
  v(2, "chunk", m.chunk);
}

// A message of the worker did not decode or makes no sense; the node has dropped it.
struct WorkerMessageRejected {
  absl::Status reason;
  friend bool operator==(const WorkerMessageRejected&, const WorkerMessageRejected&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, WorkerMessageRejected& m) {
  v(1, "reason", m.reason);
}

using WorkerReply = std::variant<WorkerAttached, TensorOpened, CallCompleted, SlotFreed, RoundCompleted, JobEnded,
                                 WorkerMessageRejected, StateOpened, HoldAtBoundary, StateRead, StateHashesRead,
                                 StateWrite, MembersChanged>;

}  // namespace banyan

#endif  // BANYAN_PROTO_SESSION_MESSAGES_H_
