// Sees every message of a simulation when it is handed to the network and when it reaches the other process; how
// checkers and statistics listen. Called on the simulation's thread; must outlive the network that it is registered
// with.
#ifndef BANYAN_SIM_TRAFFIC_OBSERVER_H_
#define BANYAN_SIM_TRAFFIC_OBSERVER_H_

#include <cstdint>

#include "core/ids.h"
#include "core/time.h"
#include "protocol/action.h"

namespace banyan {

struct SentMessage {
  Timestamp now;
  NodeId from;
  NodeId to;
  Channel channel = Channel::kControl;
  uint32_t connection = 0;  // index in the network; its generation rises with each loss
  uint32_t generation = 0;
  int64_t size_bytes = 0;  // on the wire, scaled
  const Message& message;
  const Payload& payload;
};

class TrafficObserver {
 public:
  virtual ~TrafficObserver() = default;

  // Also for a message that will be lost.
  virtual void OnSent(const SentMessage& /*sent*/) {}
  virtual void OnDelivered(const SentMessage& /*sent*/) {}
  // Also for a further start of it.
  virtual void OnProcessStarted(Timestamp /*now*/, NodeId /*process*/) {}
  // `node` has been told that its connection to `peer` is gone.
  virtual void OnLossNoticed(Timestamp /*now*/, NodeId /*node*/, NodeId /*peer*/, uint32_t /*connection*/) {}
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRAFFIC_OBSERVER_H_
