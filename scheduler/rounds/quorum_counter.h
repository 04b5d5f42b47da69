// Counts the members that have pushed rounds of each key, and says when they are a quorum: nodes whose workers are late
// then go on without them after the grace. The scheduler counts since every node reaches it alike: sums that wait at an
// inner node for its own late worker never get to the root. Thread-compatible; owned by the core.
//
// Invariants:
// - What it says is a hint, and nothing of it is durable. A node that hears nothing waits for its workers, and one that
//   hears too much contributes early: a round has one result and loses nothing either way.
// - Of each key it says a round once at most, and none lower, until Restart.
#ifndef BANYAN_SCHEDULER_ROUNDS_QUORUM_COUNTER_H_
#define BANYAN_SCHEDULER_ROUNDS_QUORUM_COUNTER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class QuorumCounter {
 public:
  // A member and how many workers it has.
  struct Weight {
    NodeId node;
    uint32_t workers = 0;
    friend bool operator==(const Weight&, const Weight&) = default;
  };

  struct Outcome {
    std::vector<KeyProgressRun> news;    // up to here a quorum has pushed keys, since this report
    std::vector<KeyProgressRun> missed;  // the same of before, where the node is behind: it may not have heard of it
  };

  // `quorum`: the share of all members' workers that is one. 0: there never is.
  explicit QuorumCounter(double quorum) : quorum_(quorum) {}

  bool is_on() const { return quorum_ > 0; }
  // Takes how far `node` is with keys, and says what it means for a quorum of the `members`.
  Outcome Report(NodeId node, const std::vector<KeyProgressRun>& runs, const std::vector<Weight>& members);
  // Returns up to where a quorum has pushed keys now that these are the members' workers, where that is news.
  std::vector<KeyProgressRun> Review(const std::vector<Weight>& members);
  // Forgets all: another set of members reports what it has pushed.
  void Restart() { keys_.clear(); }

 private:
  struct Key {
    std::map<NodeId, Round> pushed;
    Round reached;
  };

  // Returns the last round that a quorum of the members has pushed; 0 when there is none.
  Round Reached(const Key& key, const std::vector<Weight>& members) const;

  double quorum_;
  std::map<KeyId, Key> keys_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_QUORUM_COUNTER_H_
