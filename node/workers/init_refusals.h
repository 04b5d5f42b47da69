// Inits of keys that this node has refused for its own reasons, such as memory: other nodes wait for them. Goes with
// its reports, so that they are told why. Thread-compatible; owned by WorkerDesk.
#ifndef BANYAN_NODE_WORKERS_INIT_REFUSALS_H_
#define BANYAN_NODE_WORKERS_INIT_REFUSALS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "proto/wire_limits.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_INIT_REFUSALS_H_
