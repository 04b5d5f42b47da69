// Holds back link acks for one neighbour, so that several travel in one message: otherwise a node handles as many acks
// as chunks. All that are added at one moment travel together, however many tiny chunks have come. Each chunk says
// whether its ack may wait for longer. Its sender sets that when another chunk follows and its window does not need the
// ack meanwhile. Thread-compatible; owned by ControlConnection.
//
// Invariants:
// - Acks wait in the order in which they were added, fewer than kMostInAMessage, and none longer than kLongestWait.
// - An ack that may not wait, and the second one that may, are due at once. They take those with them that wait.
// - deadline() is kNever exactly when no ack waits.
#ifndef BANYAN_NODE_LINK_LINK_ACK_BUFFER_H_
#define BANYAN_NODE_LINK_LINK_ACK_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "core/time.h"
#include "proto/peer_messages.h"

namespace banyan {

class LinkAckBuffer {
 public:
  static constexpr size_t kDueTogether = 2;
  static constexpr size_t kMostInAMessage = 256;
  // Half of what windows allow acks to be late (LinkWindows::kAckLateness).
  static constexpr absl::Duration kLongestWait = absl::Milliseconds(20);

  // Adds the ack `entry`. Returns the message to send now; empty when `entry` waits for deadline().
  std::optional<LinkAck> Add(const LinkAck::Entry& entry, bool may_wait, Timestamp now) {
    if (waiting_.entries.empty()) deadline_ = now + kLongestWait;
    waiting_.entries.push_back(entry);
    if (!may_wait || waiting_.entries.size() >= kDueTogether) deadline_ = std::min(deadline_, now);
    return waiting_.entries.size() < kMostInAMessage ? std::nullopt : Take();
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
