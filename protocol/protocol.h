// A deterministic protocol core: events and the time in, actions out. Nothing in it reads a clock, blocks, locks or
// opens a socket, so that the ZeroMQ driver and the simulator run the very same object.
#ifndef BANYAN_PROTOCOL_PROTOCOL_H_
#define BANYAN_PROTOCOL_PROTOCOL_H_

#include "core/time.h"
#include "protocol/action.h"
#include "protocol/event.h"

namespace banyan {

class Protocol {  // thread-compatible; owned by exactly one driver
 public:
  virtual ~Protocol() = default;

  // REQUIRES: `now` is not before the `now` of the call before.
  virtual Actions Step(Timestamp now, Event event) = 0;
  // Returns the time at which the core wants a DeadlineReached; kNever when idle.
  virtual Timestamp NextDeadline() const = 0;
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_PROTOCOL_H_
