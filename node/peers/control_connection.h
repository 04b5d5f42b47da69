// The connection on which this node sends control messages to one neighbour. The neighbour's answers come on a
// connection that it opens itself. Thread-compatible; owned by Neighbour.
//
// Invariants:
//   1. A link ack that waits for another goes before every message that is sent after it was added.
//   2. A link ack waits for others at most LinkAckBuffer::kLongestWait.
//   3. Messages leave in the order in which they were sent, also those that waited for the connection.
//   4. At most `waiting_limit` messages wait for the connection. Further ones are dropped and counted as rejections.
#ifndef BANYAN_NODE_PEERS_CONTROL_CONNECTION_H_
#define BANYAN_NODE_PEERS_CONTROL_CONNECTION_H_

#include <cstddef>
#include <deque>
#include <string>

#include "core/ids.h"
#include "core/time.h"
#include "node/link/link_ack_buffer.h"
#include "node/step_context.h"
#include "proto/message.h"
#include "protocol/action.h"

namespace banyan {

class ControlConnection {
 public:
  // `neighbour_name` is for log lines. The connection is down at first.
  ControlConnection(ConnectionId id, std::string neighbour_name, size_t waiting_limit);

  ConnectionId id() const { return id_; }
  bool is_up() const { return is_up_; }
  // Sends what has waited for the connection.
  void OnUp(StepContext& step);
  void OnDown() { is_up_ = false; }

  // Sends `message` now, or when the connection is up.
  void Send(StepContext& step, Message message);
  // Sends the link ack `receipt` with those that are added at this moment or, when it `may_wait`, with the next one.
  void Acknowledge(StepContext& step, const LinkAck::Entry& receipt, bool may_wait);
  // Sends the link acks that have waited long enough.
  void SendDueAcks(StepContext& step);
  // Returns when SendDueAcks has something to send; kNever when no link ack waits.
  Timestamp next_acks() const { return acks_.deadline(); }

 private:
  // Sends `message` without a look at the link acks that wait.
  void Transmit(StepContext& step, Message message);

  ConnectionId id_;
  std::string neighbour_name_;
  size_t waiting_limit_;
  bool is_up_ = false;
  std::deque<Message> waiting_;  // while the connection is down
  LinkAckBuffer acks_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_CONTROL_CONNECTION_H_
