// What may be on its way to a neighbour, and how fast it goes there. A value; thread-compatible.
#ifndef BANYAN_NODE_LINK_WINDOW_H_
#define BANYAN_NODE_LINK_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace banyan {

inline constexpr double kUnpaced = std::numeric_limits<double>::infinity();

struct LinkWindow {
  int64_t size_bytes = 0;  // always lets at least one chunk go
  // Chunks go over so many of the connections that are up; the others are there for when these are lost.
  int64_t connections = 1;
  double pace_bps = kUnpaced;  // of all connections together
  // When acks come: after this, and what is on its way at this rate.
  absl::Duration ack_time = absl::ZeroDuration();
  double rate_bps = 0;  // 0: unknown

  // How long the ack of a chunk takes with which so much is on its way; InfiniteDuration where the rate is unknown.
  absl::Duration AckAfter(int64_t in_flight_bytes) const {
    if (rate_bps <= 0) return absl::InfiniteDuration();
    return ack_time + TimeOf(in_flight_bytes);
  }

  // What the link takes for so much; nothing where the rate is unknown.
  absl::Duration TimeOf(int64_t bytes) const {
    return rate_bps <= 0 ? absl::ZeroDuration() : absl::Seconds(8 * static_cast<double>(bytes) / rate_bps);
  }

  friend bool operator==(const LinkWindow&, const LinkWindow&) = default;
};

// The pace of a link that is measured at so much while its policies want `pace_bps`. Above what is measured, so that it
// is seen when the link has become faster than they know; it must not be held back until the next one comes.
inline double PaceAfter(double pace_bps, double measured_bps) {
  constexpr double kAbove = 1.05;
  constexpr double kSearch = 1.25;
  return measured_bps > kAbove * pace_bps ? kSearch * measured_bps : std::max(pace_bps, kAbove * measured_bps);
}

// A window that lets through what either does.
inline LinkWindow Widest(const LinkWindow& a, const LinkWindow& b) {
  return {.size_bytes = std::max(a.size_bytes, b.size_bytes),
          .connections = std::max(a.connections, b.connections),
          .pace_bps = std::max(a.pace_bps, b.pace_bps),
          .ack_time = std::max(a.ack_time, b.ack_time),
          .rate_bps = std::min(a.rate_bps, b.rate_bps)};
}

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_WINDOW_H_
