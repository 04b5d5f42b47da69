// The two halves of a round. A value; thread-compatible.
#ifndef BANYAN_PROTO_HALF_H_
#define BANYAN_PROTO_HALF_H_

#include <cstdint>

namespace banyan {

// The way up a tree, from all nodes to its root (contributions), and the way down, from the root to all (results).
enum class Half : uint8_t { kReduce, kBroadcast };

}  // namespace banyan

#endif  // BANYAN_PROTO_HALF_H_
