// How much may be in flight to a neighbour, over how many connections, and at which pace. Values and pure functions;
// thread-compatible.
//
// Invariants:
// - Chunks use at most `connections` of the connections that are up. The others stand by until one of these is lost.
// - A rate of 0 is an unknown rate: no ack time is expected of such a link.
// - A pace above the rate that is measured lets it be seen when a link has become faster (PaceAfter).
#ifndef BANYAN_NODE_LINK_LINK_WINDOW_H_
#define BANYAN_NODE_LINK_LINK_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace banyan {

inline constexpr double kUnpaced = std::numeric_limits<double>::infinity();

struct LinkWindow {
  int64_t size_bytes = 0;  // without a link ack; one chunk may always go, however large it is
  int64_t connections = 1;
  double pace_bps = kUnpaced;  // of all connections together; above 0
  // An ack comes after this time and the time that the link takes for the bytes in flight.
  absl::Duration ack_time = absl::ZeroDuration();
  double rate_bps = 0;  // 0: unknown
  // Nobody has told the rate: the pace is found.
  bool is_guessed = false;

  // Returns the expected time until the ack of a chunk that makes `in_flight_bytes` with those before it;
  // InfiniteDuration if the rate is unknown.
  absl::Duration AckAfter(int64_t in_flight_bytes) const {
    if (rate_bps <= 0) return absl::InfiniteDuration();
    return ack_time + TimeOf(in_flight_bytes);
  }

  // Returns the time that the link takes to send `bytes`; zero if the rate is unknown.
  absl::Duration TimeOf(int64_t bytes) const {
    return rate_bps <= 0 ? absl::ZeroDuration() : absl::Seconds(8 * static_cast<double>(bytes) / rate_bps);
  }

  friend bool operator==(const LinkWindow&, const LinkWindow&) = default;
};

// Returns the pace of a link for which its policies want `pace_bps` and that is measured at `measured_bps`, 0 if
// unknown. It is at least 1.05 times what is measured: at a pace of just that much, nobody would see the link become
// faster. A link that is faster than its pace by more goes at 1.25 times its measured rate. It does so at once and does
// not wait for the next policy.
inline double PaceAfter(double pace_bps, double measured_bps) {
  constexpr double kAbove = 1.05;
  constexpr double kSearch = 1.25;
  return measured_bps > kAbove * pace_bps ? kSearch * measured_bps : std::max(pace_bps, kAbove * measured_bps);
}

// Returns a window that allows whatever `a` or `b` allows, and expects acks no sooner than either.
inline LinkWindow Widest(const LinkWindow& a, const LinkWindow& b) {
  return {.size_bytes = std::max(a.size_bytes, b.size_bytes),
          .connections = std::max(a.connections, b.connections),
          .pace_bps = a.is_guessed == b.is_guessed ? std::max(a.pace_bps, b.pace_bps)
                      : a.is_guessed               ? b.pace_bps
                                                   : a.pace_bps,
          .ack_time = std::max(a.ack_time, b.ack_time),
          .rate_bps = std::min(a.rate_bps, b.rate_bps),
          .is_guessed = a.is_guessed && b.is_guessed};
}

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_LINK_WINDOW_H_
