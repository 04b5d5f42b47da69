// The worker's end of its connection to the node, whatever carries the messages: a socket, or memory within one
// process.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_PORT_H_
#define BANYAN_RUNTIME_SESSION_SESSION_PORT_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/session_messages.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SessionPort {  // thread-safe but for Start, which comes first
 public:
  struct Callbacks {
    // A reply of the node; TensorOpened and StateOpened come with the memory.
    std::function<void(WorkerReply reply, std::shared_ptr<TensorSegment> segment)> reply;
    // The connection is gone for good; nothing comes afterwards. Not called for a Close of our own.
    std::function<void(absl::Status reason)> closed;
  };

  virtual ~SessionPort() = default;

  // From now on replies come, one at a time, on a thread of the port.
  virtual void Start(Callbacks callbacks) = 0;
  // Waits for room in the connection as long as the port has patience.
  virtual absl::Status Send(const WorkerMessage& message) = 0;
  // Waits for room for at most `patience`: DEADLINE_EXCEEDED when there is none, and the connection goes on.
  virtual absl::Status TrySend(const WorkerMessage& message, absl::Duration patience) = 0;
  // No callback runs any more when it returns. REQUIRES: not called from a callback. Idempotent.
  virtual void Close() = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_PORT_H_
