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
  double pace_bps = kUnpaced;  // of all connections together, while the window is nearly full
  // When acks come: after this, and what is on its way at this rate.
  absl::Duration ack_time = absl::ZeroDuration();
  double rate_bps = 0;  // 0: unknown

  // So much is on its way that all connections have something to send. Of less, what is not yet acknowledged may be all
  // that some have, and the others' parts of the pace would not fill the link.
  bool IsNearlyFull(int64_t in_flight_bytes) const { return 4 * in_flight_bytes > 3 * size_bytes; }

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
