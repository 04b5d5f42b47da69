// How the workers of a node push their keys: at each push of a key, how far the worker's other keys are behind. In a
// loop that pushes the same keys in the same order in every step that number stays the same for each key, on all nodes.
// Where one differs a key was pushed twice in a step, or left out of one: the scheduler compares. Thread-compatible;
// owned by WorkerDesk.
#ifndef BANYAN_NODE_WORKERS_PUSH_PATTERN_H_
#define BANYAN_NODE_WORKERS_PUSH_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// Of one worker.
class PushPattern {
 public:
  // What was the same for so many pushes of a key is no accident of their order.
  static constexpr uint32_t kSteady = 16;

  struct Key {
    Round pushed;
    uint64_t lag = 0;    // of the worker's other keys, when it was pushed last
    uint32_t alike = 0;  // last pushes with the same lag; kSteady stands for more, too
    Round since;         // the first of these
    bool is_steady() const { return alike >= kSteady; }
  };

  // Takes a push of the key into the round.
  void OnPush(KeyId key, Round round);
  // Those that have been pushed.
  const std::map<KeyId, Key>& keys() const { return keys_; }
  // Returns how often all keys have been pushed, about.
  uint64_t steps() const { return keys_.empty() ? 0 : pushes_ / keys_.size(); }

 private:
  // Sums up how far keys are behind a push into `round`. Each counts as 2 at most.
  uint64_t LagBehind(Round round) const;
  void Leave(Round round);

  std::map<KeyId, Key> keys_;
  std::map<Round, size_t> by_round_;  // how many keys have been pushed last into it
  uint64_t pushes_ = 0;
};

// Of all workers of a node.
class PushPatterns {
 public:
  void OnPush(WorkerId worker, KeyId key, Round round) { patterns_[worker].OnPush(key, round); }
  // The worker has gone.
  void Forget(WorkerId worker) { patterns_.erase(worker); }
  // Returns what is steady, of each key for the worker that is ahead with it: at most NodeReport::kMostLags, others
  // with each step.
  std::vector<NodeReport::Lag> Report() const;

 private:
  std::map<WorkerId, PushPattern> patterns_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_PUSH_PATTERN_H_
