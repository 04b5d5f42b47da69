// What the workers of a data centre ask of their node, as the node's core sees it. The driver turns sockets and shared
// memory into these values and chooses the request ids; each request is answered by exactly one CompleteRequest action.
// Values; thread-compatible.
#ifndef BANYAN_CORE_CLIENT_H_
#define BANYAN_CORE_CLIENT_H_

#include <cstdint>
#include <string>
#include <variant>

#include "core/buffer.h"
#include "core/ids.h"

namespace banyan {

struct ClientAttach {
  RequestId request;
  WorkerId worker;
};

// The worker's socket has closed. `clean` when it said good-bye with no operation waiting.
struct ClientDetach {
  WorkerId worker;
  bool clean = false;
};

// Makes `name` known with its shape. Completed with the key and, in results, the agreed values of round 0.
struct ClientInit {
  RequestId request;
  WorkerId worker;
  std::string name;
  Buffer values;
};

// The worker's part of the key's next round. With `wants_result` the request completes when the result has been
// written, otherwise when the node has taken the gradient into its contribution.
struct ClientPush {
  RequestId request;
  WorkerId worker;
  KeyId key;
  Buffer gradient;
  int32_t priority = 0;  // higher goes first
  bool wants_result = false;
  bool flush = false;  // the round is a kFlush; all workers of all nodes say the same
};

// The result of the last round that this worker pushed.
struct ClientPull {
  RequestId request;
  WorkerId worker;
  KeyId key;
};

// A round whose result is the values of the lowest worker of the lowest node; the others' values are ignored.
struct ClientBroadcast {
  RequestId request;
  WorkerId worker;
  KeyId key;
  Buffer values;
  int32_t priority = 0;
};

// Completed when every worker of every member has called it equally often.
struct ClientBarrier {
  RequestId request;
  WorkerId worker;
};

// Training progress, for status and for controllers. Completed at once.
struct ClientReportLoss {
  RequestId request;
  WorkerId worker;
  uint64_t step = 0;
  double loss = 0;
};

using ClientCall = std::variant<ClientAttach, ClientDetach, ClientInit, ClientPush, ClientPull, ClientBroadcast,
                                ClientBarrier, ClientReportLoss>;

}  // namespace banyan

#endif  // BANYAN_CORE_CLIENT_H_
