// What may be on its way to a neighbour, and how fast it goes there. A value; thread-compatible.
#ifndef BANYAN_NODE_LINK_WINDOW_H_
#define BANYAN_NODE_LINK_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace banyan {

inline constexpr double kUnpaced = std::numeric_limits<double>::infinity();

struct LinkWindow {
  int64_t size_bytes = 0;  // always lets at least one chunk go
  // Chunks go over so many of the connections that are up; the others are there for when these are lost.
  int64_t connections = 1;
  double pace_bps = kUnpaced;    // of all connections together,
  int64_t paced_from_bytes = 0;  // while more than this is on its way

  friend bool operator==(const LinkWindow&, const LinkWindow&) = default;
};

// A window that lets through what either does.
inline LinkWindow Widest(const LinkWindow& a, const LinkWindow& b) {
  return {.size_bytes = std::max(a.size_bytes, b.size_bytes),
          .connections = std::max(a.connections, b.connections),
          .pace_bps = std::max(a.pace_bps, b.pace_bps),
          .paced_from_bytes = std::max(a.paced_from_bytes, b.paced_from_bytes)};
}

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_WINDOW_H_
