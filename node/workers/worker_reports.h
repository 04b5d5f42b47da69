// What a node's reports say of its workers: how they push, what they push that is no finite number, which Inits were
// refused, and how long they wait. Thread-compatible; owned by LocalWorkers.
#ifndef BANYAN_NODE_WORKERS_WORKER_REPORTS_H_
#define BANYAN_NODE_WORKERS_WORKER_REPORTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/step_context.h"
#include "proto/job_config.h"
#include "proto/scheduler_messages.h"
#include "proto/wire_limits.h"

namespace banyan {

// Counts what workers push that is no finite number, NaN or an infinity, and says so in the log.
//
// Invariants:
// - However many pushes there are, a line comes at most once per kLogInterval, and Report() has at most
//   NodeReport::kMostNotFinite rows.
class NotFinitePushes {
 public:
  static constexpr absl::Duration kLogInterval = absl::Seconds(10);

  struct Push {
    WorkerId worker;
    KeyId key;
    std::string name;  // of the key
    int64_t elements = 0;
    Round round;
    uint64_t not_finite = 0;  // values, at least 1
  };

  explicit NotFinitePushes(NotFiniteRule rule) : rule_(rule) {}

  NotFiniteRule rule() const { return rule_; }
  // Says what the worker pushed: "worker 0 pushed NaN or infinity in 3 of 4096 values".
  static std::string Describe(const Push& push);
  // Counts the push, and logs it unless another one was logged not long ago.
  void Note(StepContext& step, const Push& push);
  // Returns a row for each key, in the order of keys; keys beyond the limit share one of key 0.
  std::vector<NodeReport::NotFinite> Report() const;

 private:
  struct Count {
    uint64_t values = 0;
    Round last;
  };

  const NotFiniteRule rule_;
  std::map<KeyId, Count> counts_;
  uint64_t pushes_ = 0;
  std::optional<Timestamp> logged_at_;
};

// Inits of keys that this node has refused for its own reasons, such as memory: other nodes wait for them. Goes with
// its reports, so that they are told why.
class InitRefusals {
 public:
  // The worker was refused the key. Only the first NodeReport::kMostRefusals are kept.
  void Note(WorkerId worker, const std::string& name, const std::string& reason) {
    Clear(worker, name);
    if (rows_.size() < NodeReport::kMostRefusals) rows_.push_back({name, worker, SendableReason(reason)});
  }
  // The worker has the key.
  void Clear(WorkerId worker, const std::string& name) {
    std::erase_if(rows_, [&](const NodeReport::Refusal& row) { return row.worker == worker && row.name == name; });
  }
  // The worker has gone.
  void Forget(WorkerId worker) {
    std::erase_if(rows_, [&](const NodeReport::Refusal& row) { return row.worker == worker; });
  }
  const std::vector<NodeReport::Refusal>& rows() const { return rows_; }

 private:
  std::vector<NodeReport::Refusal> rows_;
};

// Times what this node's workers wait for: a synchronisation lasts from the push that finds no round open here until no
// round is open again. With several tensors it is that of all that were pushed before the first came back; while the
// rounds of some tensor are always open, none ends. Time is handed in.
class SynchronisationClock {
 public:
  // A round of a tensor with so many elements has been pushed.
  void Begin(Timestamp now, int64_t elements);
  // The result of one is complete. REQUIRES: more have begun than ended.
  void End(Timestamp now);

  // The last that has ended.
  const NodeReport::Synchronisation& last() const { return last_; }

 private:
  int open_ = 0;
  Timestamp began_at_;
  int64_t elements_ = 0;
  NodeReport::Synchronisation last_;
};

// How the workers of a node push their keys: at each push of a key, how far the worker's other keys are behind. In a
// loop that pushes the same keys in the same order in every step that number stays the same for each key, on all nodes.
// Where one differs a key was pushed twice in a step, or left out of one: the scheduler compares. This is
// of one worker.
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

#endif  // BANYAN_NODE_WORKERS_WORKER_REPORTS_H_
