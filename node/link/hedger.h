// Decides which chunks of a link are sent a second time because their acks are late (hedged requests: Dean and Barroso,
// "The Tail at Scale", 2013). A connection that recovers from a lost packet may stand still for several round trips.
// At a round's end everybody would wait for the chunk that it carries. A copy over an idle connection overtakes it.
//
// A chunk's ack is late by its own time, or at once when a chunk that was sent well after it has been acknowledged.
// While other chunks of its round wait for the link, a copy would only delay them. It goes then only if acks have
// stopped coming as well.
//
// Invariants:
// - A chunk is hedged at most once at a time, and only if its path has no relay and the link's rate is known.
// - Its work does not grow with the flight, which may be thousands of tiny chunks: it looks at the oldest kMostLooked
//   that have no copy. Later ones wait for these.
// - Nothing is hedged before kLateFactor times the time that its ack should take, except what was overtaken.
// - The slower acks have been of late, the later they count as late: a link that is slower than its policies know must
//   not get copies of all that it carries. Faster ones than expected change nothing.
// Thread-compatible; owned by PeerLink.
#ifndef BANYAN_NODE_LINK_HEDGER_H_
#define BANYAN_NODE_LINK_HEDGER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/link_chunks.h"
#include "node/link/resend_timer.h"

namespace banyan {

class Hedger {
 public:
  // An ack is late when it takes this many times what it should on this link.
  static constexpr double kLateFactor = 1.5;
  // The weight of one ack in slowness(), a moving mean.
  static constexpr double kSlownessWeight = 1.0 / 8;
  // A chunk is overtaken by one that was sent after it by this part of the time that its ack should take. Connections
  // that share a link are apart by less.
  static constexpr double kOvertakenAfter = 0.25;
  // As many chunks as most windows hold.
  static constexpr int kMostLooked = 16;

  // Returns `expected`, the time that the link's window says an ack takes, with the time after which it is late.
  LinkChunks::AckTimes AckTimes(absl::Duration expected) const;
  // Learns from the ack of `sent`.
  void OnAck(const LinkChunks::Sent& sent, Timestamp now);

  // Returns when a copy of `sent` is due; kNever for what is not to be hedged. `waiting_round` is the round of the
  // chunk at the head of the queue, empty when none waits.
  Timestamp HedgeAt(const LinkChunks::Sent& sent, std::optional<Round> waiting_round, const ResendTimer& timer) const;
  // Returns when the first copy of what is in flight is due, unless acks come before; kNever without an idle
  // connection.
  Timestamp NextHedge(const LinkChunks& chunks, const ResendTimer& timer) const;
  // Returns the link sequences of what is in flight and whose copies are due, the oldest first.
  std::vector<uint64_t> Due(const LinkChunks& chunks, const ResendTimer& timer, Timestamp now) const;

  // Returns how many times longer acks take than expected, in the mean of the last few; at least 1.
  double slowness() const { return slowness_; }

 private:
  // Calls `look` with the oldest of what is in flight and has no copy.
  static void ForEachOldest(const LinkChunks& chunks, absl::FunctionRef<void(const LinkChunks::Sent&)> look);

  double slowness_ = 1;
  Timestamp newest_acked_;  // when the last one of the acknowledged chunks was sent
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_HEDGER_H_
