// Lets BBR begin anew on a connection that goes on after a pause. BBR wants to see the bare round trip every ten
// seconds, and where no pause has shown it lately, it holds the connection at four packets for 200 ms: in the middle of
// a round, on all connections of a job at about the same time, whose rates it has partly forgotten afterwards. A
// connection that begins anew in the pause before keeps its window, finds its rate within a few round trips (its pace
// bounds what it tries), and has another ten seconds.
//
// BBR also forgets a rate that it has known for long: what it believes is the best of its last ten round trips, and
// those in which it recovered from a loss, stood still to see the bare round trip, or had little to send may be all of
// them. It comes back by a quarter in eight round trips, so a link stands at a fraction of its rate for seconds. A
// connection with a pace that believes in much less than that begins anew, seldomer each time that this does not help,
// as where the link has become slower than its policy knows. Of other congestion controls nothing is changed.
//
// Thread-compatible; owned by its connection.
#ifndef BANYAN_RUNTIME_CONGESTION_RENEWAL_H_
#define BANYAN_RUNTIME_CONGESTION_RENEWAL_H_

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class CongestionRenewal {
 public:
  // So long without a send is a pause, if all of what was sent before has been acknowledged.
  static constexpr absl::Duration kPause = absl::Milliseconds(100);
  // A connection begins anew in the first pause after this: before BBR's ten seconds, and seldom, as each beginning
  // costs some round trips.
  static constexpr absl::Duration kRenewAfter = absl::Milliseconds(7500);

  // A rate below this part of the pace may have been forgotten.
  static constexpr double kForgotten = 0.7;
  // How often that is looked at first. A few round trips, so that a new beginning has had time to show.
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(200);

  // `fd`: a TCP socket that has just connected. One that was closed and is not forgotten yet does no harm, were its
  // number another socket's by now.
  void Watch(int fd, Timestamp now);
  void Forget() { fd_ = -1; }
  // Call before something is sent; `pace_bps` is infinite for none. Returns whether the connection has begun anew.
  bool OnSend(Timestamp now, double pace_bps);

 private:
  bool IsIdle() const;
  bool HasForgotten(double pace_bps) const;
  bool Renew(Timestamp now);

  int fd_ = -1;
  Timestamp last_send_;
  Timestamp renewed_at_;
  Timestamp looked_at_;
  absl::Duration look_after_ = kLookEvery;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_CONGESTION_RENEWAL_H_
