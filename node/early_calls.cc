#include "node/early_calls.h"

#include <optional>
#include <type_traits>
#include <variant>

namespace banyan {
namespace {

// The request that waits behind a call; none for a WorkerDetach.
std::optional<RequestId> RequestOf(const WorkerCall& call) {
  return std::visit(
      [](const auto& concrete) -> std::optional<RequestId> {
        if constexpr (std::is_same_v<std::decay_t<decltype(concrete)>, WorkerDetach>) {
          return std::nullopt;
        } else {
          return concrete.request;
        }
      },
      call);
}

}  // namespace

void EarlyCalls::Refuse(StepContext& step, const absl::Status& why) {
  for (const WorkerCall& call : Take()) Refuse(step, call, why);
}

void EarlyCalls::Refuse(StepContext& step, const WorkerCall& call, const absl::Status& why) {
  const std::optional<RequestId> request = RequestOf(call);
  if (!request.has_value()) return;
  step.actions.emplace_back(std::in_place_type<CompleteRequest>, CompleteRequest{*request, why, KeyId(), Round()});
}

}  // namespace banyan
