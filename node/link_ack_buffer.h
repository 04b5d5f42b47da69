// Link acks of one neighbour's chunks that wait for the next one's, so that both travel in one message: else a node
// handles as many acks as chunks. A chunk says whether its ack may wait: its sender knows that another one follows and
// that its window does not need the ack (node/peer_link.h). Thread-compatible; owned by ControlConnection.
#ifndef BANYAN_NODE_LINK_ACK_BUFFER_H_
#define BANYAN_NODE_LINK_ACK_BUFFER_H_

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

  // What to send now: the ack with all that wait. Empty when this one waits as well.
  std::optional<LinkAck> Add(const LinkAck::Entry& entry, bool may_wait, Timestamp now) {
    if (waiting_.entries.empty()) deadline_ = now + kLongestWait;
    waiting_.entries.push_back(entry);
    if (may_wait && waiting_.entries.size() < kAcksInAMessage) return std::nullopt;
    return Take();
  }

  // Those that wait; empty when none does.
  std::optional<LinkAck> Take() {
    if (waiting_.entries.empty()) return std::nullopt;
    deadline_ = kNever;
    return std::exchange(waiting_, {});
  }

  // When those that wait are to go without another one; kNever when none waits.
  Timestamp deadline() const { return deadline_; }

 private:
  LinkAck waiting_;
  Timestamp deadline_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_ACK_BUFFER_H_
