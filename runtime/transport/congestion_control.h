// The congestion controls of this process's TCP connections, by the kernel's names, and what keeps BBR from slowing one
// of them down. The functions are pure ones of the kernel's state; thread-safe.
#ifndef BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_
#define BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

inline constexpr absl::string_view kBbr = "bbr";

// Of a TCP socket; empty where the kernel does not say.
std::string CongestionControlOf(int fd);
// Whether a new connection takes each lost packet for a full queue, as it does with all congestion controls but BBR.
bool NewConnectionsAreLossLimited();

// Restarts BBR on a TCP connection that it would otherwise slow down. Thread-compatible; owned by its connection.
//
// Why a restart in a pause: BBR wants to see the bare round trip every ten seconds. Without a pause that shows it, BBR
// holds the connection at four packets for 200 ms. That falls into the middle of a round, on all connections of a job
// at about the same time. Their rates are partly forgotten afterwards. A connection that restarts in the pause before
// keeps its window, finds its rate within a few round trips, and has another ten seconds. Its pace bounds what it
// tries.
//
// Why a restart below the pace: BBR believes in the best rate of its last ten round trips. In all of them it may have
// recovered from a loss, stood still to see the bare round trip, or had little to send. Then it has forgotten the rate,
// and it comes back by a quarter in eight round trips: the link is slow for seconds. A connection that believes in much
// less than its pace restarts, backing off while restarts do not help. They do not help where the link has become
// slower than its policy knows.
//
// Why no restart where a round trip is remembered that the path does not have: BBR that starts takes the least round
// trip that the kernel has seen in its last five minutes (tcp_min_rtt_wlen). Packets that overtake each other show one
// that is far too short, and BBR keeps no more on its way than that needs, a tenth or less of what the path carries.
// Left alone it looks anew after ten seconds. A restart before them, or at any time in those five minutes, would have
// it believe in the same again.
//
// Invariants:
// - Only connections under BBR are restarted.
// - None is restarted whose remembered round trip is less than a kMisled-th of all that were seen since the last start.
// - Between two looks at the rate lie at least kLookEvery and, while restarts do not help, up to kRenewAfter.
class CongestionRenewal {
 public:
  // A time without a send that counts as a pause, if all that was sent before has been acknowledged.
  static constexpr absl::Duration kPause = absl::Milliseconds(100);
  // The time from one restart to the next one in a pause: below BBR's ten seconds, and long, as each restart costs some
  // round trips.
  static constexpr absl::Duration kRenewAfter = absl::Milliseconds(7500);

  // A rate below this part of the pace may have been forgotten.
  static constexpr double kForgotten = 0.7;
  // The time between two looks at the rate, unless restarts do not help. A few round trips, so that a restart has had
  // time to show.
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(200);
  // Queues, and BBR's own, make round trips up to some times as long as the path itself.
  static constexpr double kMisled = 4;
  // Below this, busy processors make round trips many times as long as the path, and what the kernel remembers counts.
  static constexpr absl::Duration kShortPath = absl::Milliseconds(5);

  // Begins to watch `fd`, a TCP socket that has just connected. A socket that was closed without Forget does no harm,
  // even if its number is another socket's by now.
  void Watch(int fd, Timestamp now);
  void Forget() { fd_ = -1; }
  // Restarts the connection if it is time to; to be called before each send. `pace_bps` is infinite for none. Returns
  // whether the connection was restarted.
  bool OnSend(Timestamp now, double pace_bps);
  // Returns how often packets have overtaken each other since the last call, as far as the kernel has seen.
  uint32_t TakeOvertakings() { return overtakings_ - std::exchange(told_overtakings_, overtakings_); }

 private:
  bool IsIdle() const;
  bool HasForgotten(double pace_bps) const;
  // Notes how long round trips take, and what overtakes.
  void LookAtRoundTrip(Timestamp now);
  bool IsMisled() const;
  // Restarts the connection unless it is misled. Returns whether it was restarted.
  bool Renew(Timestamp now);

  int fd_ = -1;
  Timestamp last_send_;
  Timestamp renewed_at_;
  Timestamp looked_at_;
  Timestamp round_trip_at_;  // looked at
  // Of those that were looked at since the last start; the kernel's smoothed ones, and what it remembers as the least.
  absl::Duration shortest_round_trip_ = absl::InfiniteDuration();
  absl::Duration remembered_round_trip_ = absl::ZeroDuration();
  absl::Duration look_after_ = kLookEvery;
  uint32_t overtakings_ = 0;
  uint32_t told_overtakings_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_CONGESTION_CONTROL_H_
