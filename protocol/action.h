// The actions that a protocol core asks of its driver. Drivers carry actions out in order. Values, movable;
// thread-compatible.
#ifndef BANYAN_PROTOCOL_ACTION_H_
#define BANYAN_PROTOCOL_ACTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "proto/job_config.h"
#include "proto/message.h"
#include "protocol/computation.h"
#include "protocol/state_call.h"

namespace banyan {

// Control messages and chunks never share a connection.
enum class Channel : uint8_t { kControl, kData };

// Open a connection and keep it: the driver makes it again after each loss, with a growing, bounded pause.
struct Connect {
  ConnectionId connection;  // chosen by the core, below kInboundConnection, never used before
  std::string address;      // tcp://host:port
  Channel channel = Channel::kControl;
  std::string peer = {};  // the node's name, whose listed key the other end must have; empty: a scheduler
};

// From now on the owners of these keys may come in, as who they are, and nobody else. A connection with a key that is
// listed no more ends at once. Drivers without keys pass it over: there everybody comes in.
struct Admit {
  std::vector<ListedKey> keys;
};

// Close a connection of either direction for good; what waits on it is dropped.
struct Disconnect {
  ConnectionId connection;
  std::string reason = {};  // the other end is told, where it has opened the connection
};

// Make a connection anew that this process opens and over which nothing seems to pass. What is on it is lost, and a
// ConnectionDown says so. Nothing happens to a connection that is down.
struct Renew {
  ConnectionId connection;
  // Leave a connection alone whose other end has just taken bytes: it is slow.
  bool unless_moving = false;
};

// Send at most this much a second on a connection that this process opens, from now on and after each loss as well;
// infinite, as at first: as much as the network takes.
struct Pace {
  ConnectionId connection;
  double rate_bps = 0;  // above 0
};

// Never blocks. Sending on a connection that is down drops the message: whoever needs it there sends it again after
// ConnectionUp.
struct Send {
  ConnectionId connection;
  Message message;
  Payload payload;
};

struct StartComputation {
  ComputationId id;
  std::unique_ptr<Computation> computation;
};

// Copy `values` into the waiting request's result from element `first_element`. Comes before the CompleteRequest of
// that request, which the driver makes visible only after all its writes.
struct WriteResult {
  RequestId request;
  int64_t first_element = 0;
  Buffer values;
};

struct CompleteRequest {
  RequestId request;
  absl::Status status;
  KeyId key;           // of an Init
  Round round;         // of a Push, Pull, Broadcast, Init
  uint64_t step = 0;   // of a FetchState
  JobTraits job = {};  // of an Attach, whose `round` has the job's rounds_in_flight
};

// Tell a worker that a round is over that it has pushed and whose result it has not asked for: no CompleteRequest says
// so. Comes after the CompleteRequest of that push, once per worker and round.
struct NotifyRoundComplete {
  WorkerId worker;
  KeyId key;
  Round round;
};

// Have a worker do something with its training state, or all of them.
struct AskWorker {
  StateTask task;
};

// Tell every attached worker, and each that attaches later, who the members of the job are. Comes whenever they change.
struct NotifyMembers {
  Epoch epoch;
  std::vector<JobMember> members;
};

// Tell every attached worker that no round of the job can finish any more. Comes once, before the CompleteRequests of
// the calls that this ends.
struct NotifyJobEnded {
  absl::Status reason;  // not OK
};

// Append to stable storage; answered by RecordPersisted once it would survive a loss of power.
struct PersistRecord {
  RecordId record;
  std::string bytes;
  bool is_snapshot = false;  // takes the place of all that was stored before
};

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

// The last action of a core: the process ends, successfully when `status` is ok.
struct Stop {
  absl::Status status;
};

using AnyAction =
    std::variant<Connect, Disconnect, Renew, Pace, Send, StartComputation, WriteResult, CompleteRequest,
                 NotifyRoundComplete, NotifyJobEnded, AskWorker, PersistRecord, LogLine, Stop, Admit, NotifyMembers>;

// A class of its own, so that moving and destroying the alternatives is compiled once and not in every file.
struct Action : AnyAction {
  using AnyAction::AnyAction;
  Action(Action&& other) noexcept;
  Action& operator=(Action&& other) noexcept;
  ~Action();
};
using Actions = std::vector<Action>;

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_ACTION_H_
