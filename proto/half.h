// What a chunk belongs to: one of the two halves of a round, or a training state. A value; thread-compatible.
#ifndef BANYAN_PROTO_HALF_H_
#define BANYAN_PROTO_HALF_H_

#include <cstdint>

namespace banyan {

// The way up a tree, from all nodes to its root (contributions), and the way down, from the root to all (results).
// Apart from rounds: a training state on its way to a node that begins late.
enum class Half : uint8_t { kReduce, kBroadcast, kState };
// The greatest of them.
inline constexpr Half kLastHalf = Half::kState;

}  // namespace banyan

#endif  // BANYAN_PROTO_HALF_H_
