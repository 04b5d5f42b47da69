#include "runtime/session/group_work.h"

#include <cstring>
#include <utility>

namespace banyan {

void GroupWork::Finish(const Operation& whole, const absl::Status& status) const {
  const ConstTensorView result = whole.shared_result();
  for (const Target& target : targets) {
    if (!status.ok() || target.values.empty()) continue;
    const auto* const from = static_cast<const uint8_t*>(result.data()) + target.first * SizeOf(result.type());
    operations[target.operation]->UseResult(
        [&] { std::memcpy(target.values.data(), from, target.values.size_bytes()); });
  }
  for (const std::shared_ptr<Operation>& operation : operations) {
    if (status.ok()) operation->SetRound(whole.round());
    operation->Finish(status);
  }
}

std::shared_ptr<Operation> MakeWholeOperation(std::function<void(Operation& whole, const absl::Status&)> done) {
  // The callback goes with the operation's end, and so never outlives it.
  const auto self = std::make_shared<Operation*>(nullptr);
  auto whole = std::make_shared<Operation>(
      "", TensorView(), [self, done = std::move(done)](const absl::Status& status) { done(**self, status); });
  *self = whole.get();
  return whole;
}

}  // namespace banyan
