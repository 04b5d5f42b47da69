// The events that can happen to a protocol core. Drivers make events; cores react to them. Values, movable;
// thread-compatible.
#ifndef BANYAN_PROTOCOL_EVENT_H_
#define BANYAN_PROTOCOL_EVENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "proto/message.h"
#include "protocol/computation.h"
#include "protocol/state_call.h"
#include "protocol/worker_call.h"

namespace banyan {

// The first event of every core, once.
struct Started {};

struct MessageReceived {
  ConnectionId connection;
  Message message;
  Payload payload;  // the frames of a chunk; empty with every other message
};

// A frame arrived that does not decode; the driver has dropped it. For counting and for closing the connection.
struct MessageRejected {
  ConnectionId connection;
  absl::Status reason;
};

// A connection that this core asked for can carry messages, for the first time or again after a loss.
struct ConnectionUp {
  ConnectionId connection;
};

// A connection is gone; what was sent on it and not acknowledged may or may not have arrived. A connection that this
// core opened is being made again by the driver until it is closed; one that the other side opened comes back under a
// new id.
struct ConnectionDown {
  ConnectionId connection;
};

// An attempt to make a connection that this core asked for has failed; the driver tries again and again. Not told of
// each attempt, and not while the reason is looked for.
struct ConnectFailed {
  ConnectionId connection;
  std::string reason;  // "Connection refused"
};

// Another process has opened a connection to this one. Comes before the first message on it.
struct ConnectionAccepted {
  ConnectionId connection;
  std::string host;        // from where: a number; empty when that is not known
  std::string public_key;  // with which it came in, as listed; empty where keys are not asked for
};

// Packets of a connection that this core asked for have overtaken each other on their way.
struct PacketsOvertook {
  ConnectionId connection;
  uint64_t times = 0;  // as the kernel has seen since the last such event
};

// NextDeadline() has passed.
struct DeadlineReached {};

struct WorkerCalled {
  WorkerCall call;
};

// A worker says something of a training state.
struct StateCalled {
  StateCall call;
};

struct ComputationFinished {
  ComputationId computation;
  std::unique_ptr<Computation> result;
  absl::Duration time = absl::ZeroDuration();  // that a thread took for it
};

struct RecordPersisted {
  RecordId record;
};

// The process was asked to end (SIGTERM, Ctrl-C). Answered in the end by a Stop action.
struct StopRequested {};

using AnyEvent = std::variant<Started, MessageReceived, MessageRejected, ConnectionUp, ConnectionDown, DeadlineReached,
                              WorkerCalled, StateCalled, ComputationFinished, RecordPersisted, StopRequested,
                              ConnectFailed, ConnectionAccepted, PacketsOvertook>;

// A class of its own, so that moving and destroying the alternatives is compiled once and not in every file.
struct Event : AnyEvent {
  using AnyEvent::AnyEvent;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_EVENT_H_
