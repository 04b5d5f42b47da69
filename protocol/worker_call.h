// The calls of a data centre's workers, as their node's core sees them. The driver turns sockets and shared memory into
// these values and chooses the request ids. Values; thread-compatible.
//
// Invariants:
// - Each request is answered by exactly one CompleteRequest action.
// - A worker's first call is its WorkerAttach and its last one its WorkerDetach.
#ifndef BANYAN_PROTOCOL_WORKER_CALL_H_
#define BANYAN_PROTOCOL_WORKER_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/tensor_layout.h"

namespace banyan {

struct WorkerAttach {
  RequestId request;
  WorkerId worker;
};

// The worker's socket has closed. `clean`: it had said good-bye, and no operation was waiting.
struct WorkerDetach {
  WorkerId worker;
  bool clean = false;
};

// Makes `name` known with its shape. Completed with the key. At the start of a job round 0 waits for the Init of all
// workers of all nodes; its results are the values of the lowest worker of the node that PolicySlice::source names. Who
// is late, as the key's rounds go on, waits for nobody: its own values are dropped. It is completed with the round
// after which it begins, and gets the values of round 0 only while its node has them.
struct WorkerInit {
  RequestId request;
  WorkerId worker;
  std::string name;
  Buffer values;
  TensorLayout layout = {};  // the parts of a group
  // Not OK: the runtime has refused the key, and with that status the call is completed. Others hear of it.
  absl::Status refused = {};
};

// The worker's part of the key's next round. With `wants_result` the request completes when the result has been
// written. Otherwise it completes when the node has taken the gradient into its contribution. A NotifyRoundComplete
// then follows once the round is over, unless a WorkerPull waits for its result by then.
struct WorkerPush {
  RequestId request;
  WorkerId worker;
  KeyId key;
  Buffer gradient;
  int32_t priority = 0;  // higher goes first
  bool wants_result = false;
  bool flush = false;       // the round is a kFlush; all workers of all nodes say the same
  uint64_t not_finite = 0;  // values of the gradient that are NaN or infinite, as the worker counts
};

// The result of the last round that this worker pushed.
struct WorkerPull {
  RequestId request;
  WorkerId worker;
  KeyId key;
};

// A round whose result is the values of the lowest worker of the lowest node; the others' values are ignored.
struct WorkerBroadcast {
  RequestId request;
  WorkerId worker;
  KeyId key;
  Buffer values;
  int32_t priority = 0;
};

// Completed when every worker of every member has called it equally often.
struct WorkerBarrier {
  RequestId request;
  WorkerId worker;
};

// Training progress, for status and for controllers. Completed at once.
struct WorkerReportLoss {
  RequestId request;
  WorkerId worker;
  uint64_t step = 0;
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better
};

// The key's weights as the worker has them now, by which gradients may be pruned. Completed at once.
struct WorkerRegisterWeights {
  RequestId request;
  WorkerId worker;
  KeyId key;
  Buffer weights;
};

// For whom does this worker's oldest call of a key wait? Completed soon, with DEADLINE_EXCEEDED that says it; with OK,
// when no such call waits. The worker may be one that is not attached yet.
struct WorkerDescribeWait {
  RequestId request;
  WorkerId worker;
  std::string name;  // of the key; empty: a call that concerns no key
};

using WorkerCall = std::variant<WorkerAttach, WorkerDetach, WorkerInit, WorkerPush, WorkerPull, WorkerBroadcast,
                                WorkerBarrier, WorkerReportLoss, WorkerRegisterWeights, WorkerDescribeWait>;

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_WORKER_CALL_H_
