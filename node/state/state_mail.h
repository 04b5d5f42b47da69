// What those that move states, be it of workers or of nodes, leave for their node to send. Values and pure functions;
// thread-compatible.
#ifndef BANYAN_NODE_STATE_STATE_MAIL_H_
#define BANYAN_NODE_STATE_STATE_MAIL_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "proto/message.h"
#include "protocol/state_call.h"

namespace banyan {

struct StateMail {
  using Routed = std::pair<Message, Payload>;

  // While it is connected; what is lost is said again with the next join.
  std::vector<Message> to_scheduler;
  // Each to the next node on its route; a chunk again until it has arrived. The node fills in what only it knows of a
  // chunk: the policy, the epoch and this start of it.
  std::vector<Routed> to_nodes;
  // By routes that go no further than this node. StateExchange takes them itself.
  std::deque<Routed> to_self;
  // Rounds of these keys may go on as they are now: their replicas are here, or they are held no longer.
  std::vector<KeyId> changed_replicas;

  bool empty() const { return to_scheduler.empty() && to_nodes.empty() && changed_replicas.empty(); }

  template <typename RoutedMessage>
  void Send(RoutedMessage message, Payload payload = {}) {
    if (message.route.path.size() == 1) {
      to_self.emplace_back(std::move(message), std::move(payload));
    } else {
      to_nodes.emplace_back(std::move(message), std::move(payload));
    }
  }
  // Sends a chunk of a state along `route`.
  void SendChunk(ChunkId id, SourceRoute route, Buffer bytes) {
    ChunkMessage message;
    message.id = id;
    message.route = std::move(route);
    message.elements = bytes.size_bytes();
    message.frames = {{CodecId::kFp32, 0, bytes.size_bytes(), bytes.size_bytes()}};
    Send(std::move(message), {std::move(bytes)});
  }
};

// Returns the route from the last node of `route` to its first.
inline SourceRoute Reversed(SourceRoute route) {
  std::reverse(route.path.begin(), route.path.end());
  route.hop = 0;
  return route;
}

inline void GiveTask(StepContext& step, StateTask task) {
  step.actions.emplace_back(std::in_place_type<AskWorker>, AskWorker{std::move(task)});
}

inline void CompleteStateCall(StepContext& step, RequestId request, absl::Status status, uint64_t boundary = 0) {
  step.actions.emplace_back(std::in_place_type<CompleteRequest>,
                            CompleteRequest{request, std::move(status), KeyId(), Round(), boundary});
}

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_STATE_MAIL_H_
