#include "node/workers/local_barriers.h"

#include <utility>

namespace banyan {

void LocalBarriers::Enter(const WaitingCall& call, IsAwaited is_awaited) {
  waiting_[counts_[call.worker.value()]++].push_back(call);
  Review(is_awaited);
}

void LocalBarriers::Review(IsAwaited is_awaited) {
  const auto waiting = waiting_.find(entered_);
  if (waiting == waiting_.end() || waiting->second.empty()) return;
  for (uint32_t worker = 0; worker < counts_.size(); ++worker) {
    if (is_awaited(WorkerId(worker)) && counts_[worker] <= entered_) return;
  }
  scheduler_->EnterBarrier(entered_++);
}

std::vector<RequestId> LocalBarriers::Drop(WorkerId worker) {
  std::vector<RequestId> requests;
  for (auto& [barrier, calls] : waiting_) {
    for (const WaitingCall& call : calls) {
      if (call.worker == worker) requests.push_back(call.request);
    }
    std::erase_if(calls, [worker](const WaitingCall& call) { return call.worker == worker; });
  }
  return requests;
}

std::vector<WaitingCall> LocalBarriers::TakeReleased(uint64_t barrier) {
  auto released = waiting_.extract(barrier);
  return released.empty() ? std::vector<WaitingCall>() : std::move(released.mapped());
}

std::map<uint64_t, std::vector<WaitingCall>> LocalBarriers::TakeAll() { return std::exchange(waiting_, {}); }

}  // namespace banyan
