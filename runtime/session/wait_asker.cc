#include "runtime/session/wait_asker.h"

namespace banyan {

void WaitAsker::Serve(const std::shared_ptr<WaitAsker>& asker, const std::shared_ptr<Operation>& operation,
                      std::string key) {
  operation->AskBeforeTimeout(
      [asker, weak = std::weak_ptr<Operation>(operation), key = std::move(key)] { asker->AskFor(weak, key); });
}

void WaitAsker::AskFor(const std::weak_ptr<Operation>& operation, const std::string& key) {
  const std::shared_ptr<Operation> asking = operation.lock();
  if (asking == nullptr) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!ask_) return;
  ask_(key, asking->round(), [operation](const absl::Status& answer) {
    const std::shared_ptr<Operation> waiting = operation.lock();
    if (waiting != nullptr && absl::IsDeadlineExceeded(answer)) waiting->SetWait(std::string(answer.message()));
  });
}

void WaitAsker::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  ask_ = nullptr;
}

}  // namespace banyan
