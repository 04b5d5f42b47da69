// The messages between a training process and its node; tensors themselves travel through shared memory. Values;
// thread-compatible.
//
// Invariants:
// - The worker opens with AttachWorker.
// - Each message with a `call`, a number that the worker chooses, is answered by exactly one WorkerAttached,
//   TensorOpened or CallCompleted with the same number.
// - A tensor's memory is a row of gradient slots followed by a row of result slots. The worker chooses each call's
//   slots. A gradient slot is the node's from the call until its SlotFreed, a result slot until its CallCompleted.
// - The worker hears of the end of each round that it pushed: by the CallCompleted of a call that asks for the result,
//   or else by a RoundCompleted, which comes after the push's own CallCompleted.
#ifndef BANYAN_PROTO_SESSION_MESSAGES_H_
#define BANYAN_PROTO_SESSION_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/peer_messages.h"

namespace banyan {

// A call of a worker that waits for its answer; chosen by the worker, unique on its connection.
using CallId = StrongId<struct CallIdTag, uint64_t>;
// A tensor's shared memory on one worker's connection; chosen by the node.
using TensorId = StrongId<struct TensorIdTag, uint64_t>;

// ---- worker to node ----

struct AttachWorker {
  uint32_t protocol_version = kProtocolVersion;
  WorkerId worker;
  CallId call;
  friend bool operator==(const AttachWorker&, const AttachWorker&) = default;
};

// Asks for the shared memory of a key's tensor.
struct OpenTensor {
  CallId call;
  std::string name;
  int64_t elements = 0;
  friend bool operator==(const OpenTensor&, const OpenTensor&) = default;
};

enum class TensorCallKind : uint8_t { kInit, kPush, kPull, kPushPull, kBroadcast, kFlush, kRegisterWeights };
// The greatest of them.
inline constexpr TensorCallKind kLastTensorCallKind = TensorCallKind::kRegisterWeights;

// An operation on an opened tensor. Pull has no gradient slot, Push and RegisterWeights no result slot; Init's values,
// Broadcast's and RegisterWeights' are in the gradient slot. A slot that the kind does not have is 0.
struct TensorCall {
  CallId call;
  TensorId tensor;
  TensorCallKind kind = TensorCallKind::kPushPull;
  uint32_t gradient_slot = 0;
  uint32_t result_slot = 0;
  int32_t priority = 0;
  friend bool operator==(const TensorCall&, const TensorCall&) = default;
};

struct BarrierCall {
  CallId call;
  friend bool operator==(const BarrierCall&, const BarrierCall&) = default;
};

struct ReportLossCall {
  CallId call;
  uint64_t step = 0;
  double loss = 0;
  friend bool operator==(const ReportLossCall&, const ReportLossCall&) = default;
};

// The worker closes on purpose; without it a closed connection is a dead worker.
struct WorkerGoodBye {
  friend bool operator==(const WorkerGoodBye&, const WorkerGoodBye&) = default;
};

using WorkerMessage = std::variant<AttachWorker, OpenTensor, TensorCall, BarrierCall, ReportLossCall, WorkerGoodBye>;

// ---- node to worker ----

// The worker is attached.
struct WorkerAttached {
  CallId call;
  std::string node_name;
  uint32_t rounds_in_flight = 1;
  friend bool operator==(const WorkerAttached&, const WorkerAttached&) = default;
};

// Over a socket the memory's file descriptor comes beside the message.
struct TensorOpened {
  CallId call;
  TensorId tensor;
  int64_t elements = 0;
  uint32_t gradient_slots = 0;
  uint32_t result_slots = 0;
  friend bool operator==(const TensorOpened&, const TensorOpened&) = default;
};

struct CallCompleted {
  CallId call;
  absl::Status status;
  Round round;
  friend bool operator==(const CallCompleted&, const CallCompleted&) = default;
};

struct SlotFreed {
  TensorId tensor;
  uint32_t gradient_slot = 0;
  friend bool operator==(const SlotFreed&, const SlotFreed&) = default;
};

// A round of the tensor is over that the worker pushed without asking for its result.
struct RoundCompleted {
  TensorId tensor;
  Round round;  // from 1
  friend bool operator==(const RoundCompleted&, const RoundCompleted&) = default;
};

// No round of the job can finish any more. Calls that wait get their own CallCompleted after this.
struct JobEnded {
  absl::Status reason;  // not OK
  friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

// A message of the worker did not decode or makes no sense; the node has dropped it.
struct WorkerMessageRejected {
  absl::Status reason;
  friend bool operator==(const WorkerMessageRejected&, const WorkerMessageRejected&) = default;
};

using WorkerReply = std::variant<WorkerAttached, TensorOpened, CallCompleted, SlotFreed, RoundCompleted, JobEnded,
                                 WorkerMessageRejected>;

}  // namespace banyan

#endif  // BANYAN_PROTO_SESSION_MESSAGES_H_
