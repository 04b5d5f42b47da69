// Strong integer identifiers: every id that crosses a module boundary has a type of its own, so that a round is never
// passed where a chunk is meant. Values; thread-compatible.
#ifndef BANYAN_CORE_IDS_H_
#define BANYAN_CORE_IDS_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

namespace banyan {

// An integer that only compares with its own kind. `Tag` names the kind; ids are ordered so that cores can break ties
// by id.
template <typename Tag, typename Representation>
class StrongId {
 public:
  using ValueType = Representation;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Representation value) : value_(value) {}

  constexpr Representation value() const { return value_; }
  constexpr StrongId Next() const { return StrongId(value_ + 1); }

  friend constexpr auto operator<=>(StrongId, StrongId) = default;

  template <typename H>
  friend H AbslHashValue(H state, StrongId id) {
    return H::combine(std::move(state), id.value_);
  }
  friend std::ostream& operator<<(std::ostream& out, StrongId id) { return out << id.value_; }

 private:
  Representation value_ = 0;
};

// Given by the scheduler at first sight of a node's name, from 1 upwards, kept for ever and never reused.
using NodeId = StrongId<struct NodeIdTag, uint32_t>;
// The id that stands for the scheduler wherever a peer is named.
inline constexpr NodeId kSchedulerNode = NodeId(0);

// One start of a node; differs between any two starts of the same node.
using Incarnation = StrongId<struct IncarnationTag, uint64_t>;
// One start of the scheduler; rises at each start. Lower terms are refused.
using Term = StrongId<struct TermTag, uint64_t>;
// A random number of one start of the scheduler. Starts that know of each other differ in their term already; starts
// without each other's records may have the same term, and differ in this.
using StartId = StrongId<struct StartIdTag, uint64_t>;
// Membership number: rises when a node joins, leaves or dies.
using Epoch = StrongId<struct EpochTag, uint64_t>;
// Labels one try at a round within an epoch.
using Attempt = StrongId<struct AttemptTag, uint32_t>;
// A named tensor, given by the scheduler from 1 upwards in order of initialisation.
using KeyId = StrongId<struct KeyIdTag, uint32_t>;
// Consecutive keys, the last one included.
struct KeyRun {
  KeyId first;
  KeyId last;
  friend bool operator==(const KeyRun&, const KeyRun&) = default;
};
// Rises with each key that is added.
using KeyTableVersion = StrongId<struct KeyTableVersionTag, uint64_t>;
// The k-th push of a key. Round 0 carries the initial values; training starts at round 1.
using Round = StrongId<struct RoundTag, uint64_t>;
// Index of a slice within its tensor, from 0.
using ChunkIndex = StrongId<struct ChunkIndexTag, uint32_t>;
// Index of a tree within its policy, from 0.
using TreeIndex = StrongId<struct TreeIndexTag, uint32_t>;
using PolicyVersion = StrongId<struct PolicyVersionTag, uint64_t>;
// A training process of a data centre, from 0.
using WorkerId = StrongId<struct WorkerIdTag, uint32_t>;
// The most workers that one node serves. What claims to be a sum over more than all nodes' workers is refused.
inline constexpr uint32_t kMaxWorkersPerNode = 256;
// A transport connection as one process sees it. Cores choose the ids of connections they open, below
// kInboundConnection; drivers choose those of accepted connections, from kInboundConnection upwards.
using ConnectionId = StrongId<struct ConnectionIdTag, uint64_t>;
inline constexpr ConnectionId kInboundConnection = ConnectionId(uint64_t{1} << 63);
// A call of a worker that waits for its completion; chosen by the driver.
using RequestId = StrongId<struct RequestIdTag, uint64_t>;
// A computation handed to the pool; chosen by the core.
using ComputationId = StrongId<struct ComputationIdTag, uint64_t>;
// A record handed to stable storage; chosen by the core.
using RecordId = StrongId<struct RecordIdTag, uint64_t>;

}  // namespace banyan

#endif  // BANYAN_CORE_IDS_H_
