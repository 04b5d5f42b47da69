// Divides the pace of a link among its connections. They share the link's queue, and each of them looks for more than
// its part of the rate, most of all after a pause: together they would overflow it. So the pace is divided among the
// carriers, the connections that still have bytes to send if they have kept their pace. The others have sent all of
// theirs and need no part of it. Thread-compatible; owned by PeerLink.
//
// Invariants:
// - All carriers have the same pace, and these add up to at most the link's.
// - A connection's pace is told again only when it has changed, and only while it has bytes in chunks.
// - unsent_bytes() is never negative, and 0 for a connection that is down or while the link has no pace.
#ifndef BANYAN_NODE_LINK_PACER_H_
#define BANYAN_NODE_LINK_PACER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/link_chunks.h"
#include "node/link/link_window.h"
#include "protocol/action.h"

namespace banyan {

class Pacer {
 public:
  // With chunks that are smaller in the mean nothing is paced. Headers take so much of them that a link at its pace
  // looks slower than the rate from which the pace was taken: the next pace would be lower, and so on.
  static constexpr int64_t kLeastPacedChunkBytes = 4096;

  // `connections` have no pace at first.
  explicit Pacer(const std::vector<ConnectionId>& connections);

  // Calls `send`, which appends Sends to `actions` and calls OnSent for each. Then puts before them the Pace actions
  // that divide `pace_bps`, the pace of the whole link, by what is then in flight.
  void SendPaced(Timestamp now, double pace_bps, const LinkChunks& chunks, Actions& actions,
                 absl::FunctionRef<void()> send);
  // Counts `size_bytes` more to be sent on `connection`.
  void OnSent(ConnectionId connection, int64_t size_bytes);
  // Forgets what `connection` had to send. The connection keeps its pace for when it is up again.
  void OnConnectionDown(ConnectionId connection);

  // Returns what `connection` still has to send, as counted at the last SendPaced and OnSent.
  double unsent_bytes(ConnectionId connection) const;

 private:
  struct Share {
    double pace_bps = kUnpaced;  // as the driver was told
    double unsent_bytes = 0;     // if it has kept its pace
  };

  // Counts what the carriers have sent since the last call, each at its part of `pace_bps`.
  void CountSent(Timestamp now, double pace_bps);
  void SharePace(double pace_bps, const LinkChunks& chunks, Actions& actions);

  std::map<ConnectionId, Share> shares_;
  int64_t carriers_ = 1;  // connections with unsent bytes at the last SharePace, at least 1
  Timestamp counted_at_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_PACER_H_
