// Barriers, one after the other: released when every member has entered. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_ROUNDS_BARRIER_H_
#define BANYAN_SCHEDULER_ROUNDS_BARRIER_H_

#include <cstddef>
#include <cstdint>
#include <set>

#include "core/ids.h"

namespace banyan {

class Barrier {
 public:
  enum class Outcome {
    kWaiting,    // others have not entered yet
    kReleased,   // this was the last: tell everybody
    kWasBefore,  // released long ago: tell the asker again
    kTooFar,     // the node cannot have passed the barriers before: refused
  };

  // `next` is the barrier that comes next; above 0 after a restart.
  explicit Barrier(uint64_t next = 0) : next_(next) {}

  // Notes that a node has entered. REQUIRES: all nodes that have entered are among the `member_count` members; see
  // Drop.
  Outcome Enter(NodeId node, uint64_t barrier, size_t member_count);
  // Forgets that the node has entered the next one.
  void Drop(NodeId node) { entered_.erase(node); }

  uint64_t next() const { return next_; }
  // Returns the nodes that have entered the next one and wait for the others.
  const std::set<NodeId>& entered() const { return entered_; }

 private:
  uint64_t next_;
  std::set<NodeId> entered_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_BARRIER_H_
