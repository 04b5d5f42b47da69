// Holds back link acks for one neighbour, so that two travel in one message: otherwise a node handles as many acks as
// chunks. Each chunk says whether its ack may wait. Its sender sets that when another chunk follows and its window does
// not need the ack meanwhile. Thread-compatible; owned by ControlConnection.
//
// Invariants:
// - Fewer than kAcksInAMessage acks wait, in the order in which they were added, and none longer than kLongestWait.
// - An ack that may not wait goes at once and takes those with it that wait.
// - deadline() is kNever exactly when no ack waits.
#ifndef BANYAN_NODE_LINK_LINK_ACK_BUFFER_H_
#define BANYAN_NODE_LINK_LINK_ACK_BUFFER_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "core/time.h"
#include "proto/peer_messages.h"

namespace banyan {

class LinkAckBuffer {
 public:
  static constexpr size_t kAcksInAMessage = 2;
  // Half of what windows allow acks to be late (LinkWindows::kAckLateness).
  static constexpr absl::Duration kLongestWait = absl::Milliseconds(20);

  // Adds the ack `entry`. Returns the message to send now; empty when `entry` waits.
  std::optional<LinkAck> Add(const LinkAck::Entry& entry, bool may_wait, Timestamp now) {
    if (waiting_.entries.empty()) deadline_ = now + kLongestWait;
    waiting_.entries.push_back(entry);
    if (may_wait && waiting_.entries.size() < kAcksInAMessage) return std::nullopt;
    return Take();
  }

  // Takes the acks that wait; empty when none does.
  std::optional<LinkAck> Take() {
    if (waiting_.entries.empty()) return std::nullopt;
    deadline_ = kNever;
    return std::exchange(waiting_, {});
  }

  // Returns when the owner is to Take and send what waits.
  Timestamp deadline() const { return deadline_; }

 private:
  LinkAck waiting_;
  Timestamp deadline_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_LINK_ACK_BUFFER_H_
