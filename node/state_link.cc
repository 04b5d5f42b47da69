#include "node/state_link.h"

#include <utility>
#include <variant>

namespace banyan {

void StateLink::TellScheduler(StepContext& step, Message message) {
  // What is lost is said again with the next join.
  if (parts_.scheduler->joined()) parts_.scheduler->Send(step, std::move(message));
}

void StateLink::SendOnRoute(StepContext& step, Message message) {
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires { concrete.route; }) parts_.network->SendOn(step, std::move(concrete));
      },
      message);
}

void StateLink::SendStateChunk(StepContext& step, ChunkMessage message, Payload payload) {
  const PolicySlice* slice = parts_.book->newest_slice();
  // The joiner asks again when there is a way.
  if (slice == nullptr || !parts_.network->IsNeighbour(message.route.receiver())) return;
  message.policy = slice->version;
  message.id.epoch = parts_.epochs->begun();
  message.source_incarnation = parts_.incarnation;
  parts_.network->SendChunk(step, std::move(message), std::move(payload));
}

void StateLink::Ask(StepContext& step, StateTask task) {
  step.actions.emplace_back(std::in_place_type<AskWorker>, AskWorker{std::move(task)});
}

void StateLink::CompleteStateCall(StepContext& step, RequestId request, absl::Status status, uint64_t boundary) {
  step.actions.emplace_back(std::in_place_type<CompleteRequest>,
                            CompleteRequest{request, std::move(status), KeyId(), Round(), boundary});
}

}  // namespace banyan
