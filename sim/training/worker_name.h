// Names a worker among all of a simulated job. Value.
#ifndef BANYAN_SIM_TRAINING_WORKER_NAME_H_
#define BANYAN_SIM_TRAINING_WORKER_NAME_H_

#include <compare>

#include "core/ids.h"

namespace banyan {

struct WorkerName {
  NodeId node;
  WorkerId worker;

  friend auto operator<=>(const WorkerName&, const WorkerName&) = default;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_WORKER_NAME_H_
