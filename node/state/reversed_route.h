// The way back along a route.
#ifndef BANYAN_NODE_STATE_REVERSED_ROUTE_H_
#define BANYAN_NODE_STATE_REVERSED_ROUTE_H_

#include <algorithm>

#include "proto/chunk_message.h"

namespace banyan {

// Returns the route from the last node of `route` to its first.
inline SourceRoute Reversed(SourceRoute route) {
  std::reverse(route.path.begin(), route.path.end());
  route.hop = 0;
  return route;
}

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_REVERSED_ROUTE_H_
