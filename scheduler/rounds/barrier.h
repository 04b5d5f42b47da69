// Barriers, one after the other: released when every member that is awaited has entered. A member counts its own
// barriers from 0, whenever it has joined. Thread-compatible; owned by JobBarriers.
#ifndef BANYAN_SCHEDULER_ROUNDS_BARRIER_H_
#define BANYAN_SCHEDULER_ROUNDS_BARRIER_H_

#include <cstdint>
#include <set>
#include <vector>

#include "core/ids.h"

namespace banyan {

class Barrier {
 public:
  enum class Outcome {
    kWaiting,    // it counts as entered; Release tells whether others are awaited
    kWasBefore,  // released long ago: tell the asker again
    kTooFar,     // the node cannot have passed the barriers before: refused
  };

  // `next` is the barrier that comes next; above 0 after a restart.
  explicit Barrier(uint64_t next = 0) : next_(next) {}

  // Notes that a node has entered.
  Outcome Enter(NodeId node, uint64_t barrier);
  // Releases the next barrier if somebody has entered it and all of `awaited` have. True when it is released.
  bool Release(const std::vector<NodeId>& awaited);
  // Forgets that the node has entered the next one.
  void Drop(NodeId node) { entered_.erase(node); }

  uint64_t next() const { return next_; }
  // Returns the barrier with which a member begins that joins now. It takes no part in one that others wait in: they
  // would wait for all that it has to do before.
  uint64_t FirstOfJoiner() const { return next_ + (entered_.empty() ? 0 : 1); }
  // Returns the nodes that have entered the next one and wait for the others.
  const std::set<NodeId>& entered() const { return entered_; }

 private:
  uint64_t next_;
  std::set<NodeId> entered_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_BARRIER_H_
