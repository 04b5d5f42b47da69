// A connection between two simulated processes: its ends, its state, and what is on its way. Thread-compatible; owned
// by the simulated network.
//
// Invariants:
// - A direction that is silent stays so until the connection is made anew.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_
#define BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "protocol/action.h"
#include "sim/agenda.h"
#include "sim/network/middle_box.h"
#include "sim/network/paced_queue.h"
#include "sim/network/simulated_link.h"
#include "sim/traffic_observer.h"

namespace banyan {

struct SimulatedConnection {
  enum class State : uint8_t { kDialling, kUp, kLost, kClosed };

  struct Direction {
    SimulatedLink* link = nullptr;
    int64_t last_arrival_ns = 0;
    bool used = false;                   // since the connection was made
    bool is_silent = false;              // what is sent gets lost
    std::vector<MessageArrival> held{};  // until the direction is mended
  };

  // A connection at its accepting end.
  struct Acceptance {
    ConnectionId id;
    uint32_t life = 0;        // of the process that accepted it
    bool is_refused = false;  // it has closed it, and the opener does not know yet
  };

  NodeId SenderOf(bool to_opener) const { return to_opener ? acceptor : opener; }
  NodeId ReceiverOf(bool to_opener) const { return to_opener ? opener : acceptor; }
  Direction& Way(bool to_opener) { return to_opener ? backward : forward; }

  // The connection is made under this id of the acceptor.
  void Make(const Acceptance& acceptance, Timestamp now) {
    state = State::kUp;
    failed_dials = 0;
    ++generation;
    accepted = acceptance;
    for (Direction* direction : {&forward, &backward}) {
      direction->used = direction->is_silent = false;
      direction->last_arrival_ns = 0;
    }
    last_use = now;
  }

  // From now on nothing passes in these directions.
  void Silence(bool is_forward, bool is_backward) {
    forward.is_silent |= is_forward;
    backward.is_silent |= is_backward;
  }

  // Sends a message of this size past `box`. Returns whether it gets lost while the connection stays.
  bool Swallows(bool to_opener, int64_t size_bytes, const MiddleBox& box, Timestamp now) {
    if (now - std::exchange(last_use, now) > box.forgets_after) Silence(true, true);
    if (size_bytes >= box.drops_from_bytes) Way(to_opener).is_silent = true;
    return Way(to_opener).is_silent;
  }

  // Describes a message on this connection, which is the `index` and generation given, for observers.
  SentMessage Describe(Timestamp now, std::pair<ConnectionIndex, uint32_t> index, bool to_opener, int64_t size_bytes,
                       const Message& message, const Payload& payload) const {
    return {now,    SenderOf(to_opener), ReceiverOf(to_opener), channel, index.first, index.second, size_bytes, message,
            payload};
  }

  // Returns whether something that the opener has sent is still to arrive.
  bool IsMoving(Timestamp now) const {
    return !forward.is_silent && (forward.last_arrival_ns > now.nanoseconds() || !paced.empty());
  }

  NodeId opener;
  NodeId acceptor;
  bool resolved = false;  // the address has answered once, so that the acceptor is known
  std::string address;
  ConnectionId opener_id;
  Acceptance accepted;
  Channel channel = Channel::kControl;
  State state = State::kDialling;
  uint32_t generation = 0;
  uint32_t announced = 0;  // the generation whose ConnectionUp the opener has handled
  uint32_t failed_dials = 0;
  Timestamp last_use;  // in either direction
  Direction forward;
  Direction backward;
  PacedQueue<std::pair<Message, Payload>> paced;  // forward
  uint32_t pace_changes = 0;                      // and messages that it passed on
  // These tell of the generation before this one, or of this one when it is lost.
  uint32_t lost_generation = 0;
  Acceptance lost;
  int64_t survivors_until_ns = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_
