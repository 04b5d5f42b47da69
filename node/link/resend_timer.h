// Decides when link acks of one link count as lost. Only acks that go down with the neighbour's control connection are
// ever lost, so the wait is generous and starts again with every ack. Thread-compatible; owned by PeerLink.
//
// Invariants:
// - The wait is at least `resend_after` and kOverdueFactor times the slowest recent ack.
// - Each timeout without an ack in between doubles it, up to kMostDoublings times; an ack ends the doubling.
// - A slow ack is forgotten within a few dozen fast ones.
#ifndef BANYAN_NODE_LINK_RESEND_TIMER_H_
#define BANYAN_NODE_LINK_RESEND_TIMER_H_

#include <algorithm>

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class ResendTimer {
 public:
  static constexpr int kOverdueFactor = 4;
  static constexpr int kMostDoublings = 6;

  explicit ResendTimer(absl::Duration resend_after) : resend_after_(resend_after) {}

  // Starts the wait again at an ack that came `took` after its chunk was sent.
  void OnAck(absl::Duration took, Timestamp now);
  // Starts the wait again, twice as long, in case the link is only slower than anything seen so far.
  void OnTimeout(Timestamp now);

  // Returns since when a chunk that was sent at `sent_at` is waited for: the last ack or timeout if that came later.
  Timestamp WaitsSince(Timestamp sent_at) const { return std::max(sent_at, restarted_at_); }
  // Returns when acks are overdue, if the oldest chunk in flight was sent at `oldest_sent_at`.
  Timestamp Deadline(Timestamp oldest_sent_at) const { return WaitsSince(oldest_sent_at) + Timeout(); }
  // Returns how long the wait is now.
  absl::Duration Timeout() const;
  // Returns how long the slowest of the recent acks took; zero before the first.
  absl::Duration slowest_ack() const { return slowest_ack_; }
  // Returns the least wait; what was sent later than that is not sent again at a timeout.
  absl::Duration resend_after() const { return resend_after_; }

 private:
  absl::Duration resend_after_;
  absl::Duration slowest_ack_ = absl::ZeroDuration();  // of recent ones
  Timestamp restarted_at_;
  int timeouts_in_a_row_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_RESEND_TIMER_H_
