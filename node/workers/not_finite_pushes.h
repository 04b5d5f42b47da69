// Counts what workers push that is no finite number, NaN or an infinity, and says so in the log. Thread-compatible;
// owned by WorkerDesk.
//
// Invariants:
// - However many pushes there are, a line comes at most once per kLogInterval, and Report() has at most
//   NodeReport::kMostNotFinite rows.
#ifndef BANYAN_NODE_WORKERS_NOT_FINITE_PUSHES_H_
#define BANYAN_NODE_WORKERS_NOT_FINITE_PUSHES_H_

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

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_NOT_FINITE_PUSHES_H_
