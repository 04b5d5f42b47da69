// Times what this node's workers wait for: a synchronisation lasts from the push that finds no round open here until no
// round is open again. With several tensors it is that of all that were pushed before the first came back; while the
// rounds of some tensor are always open, none ends. Time is handed in. Thread-compatible; owned by WorkerDesk.
#ifndef BANYAN_NODE_WORKERS_SYNCHRONISATION_CLOCK_H_
#define BANYAN_NODE_WORKERS_SYNCHRONISATION_CLOCK_H_

#include <cstdint>

#include "core/time.h"
#include "proto/scheduler_messages.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_SYNCHRONISATION_CLOCK_H_
