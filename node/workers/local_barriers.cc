#include "node/workers/local_barriers.h"

#include <algorithm>
#include <utility>

namespace banyan {

void LocalBarriers::OnFetched(WorkerId worker) {
  if (fetching_.erase(worker) == 0) return;
  uint64_t& count = counts_[worker.value()];
  count = std::max(count, entered_);
}

void LocalBarriers::Enter(Timestamp now, const WaitingCall& call) {
  Waiting& waiting = waiting_[counts_[call.worker.value()]++];
  if (waiting.calls.empty()) waiting.since = now;
  waiting.calls.push_back(call);
}

std::optional<uint64_t> LocalBarriers::TakeEntered(IsAwaited is_awaited) {
  const auto next = waiting_.find(entered_);
  if (next == waiting_.end() || next->second.calls.empty()) return std::nullopt;
  if (!Missing(entered_, is_awaited).empty()) return std::nullopt;
  return entered_++;
}

std::vector<WaitingCall> LocalBarriers::TakeReleased(uint64_t barrier) {
  auto released = waiting_.extract(barrier);
  if (released.empty()) return {};
  return std::move(released.mapped().calls);
}

std::vector<RequestId> LocalBarriers::Drop(WorkerId worker) {
  fetching_.erase(worker);
  std::vector<RequestId> requests;
  for (auto& [barrier, waiting] : waiting_) {
    for (const WaitingCall& call : waiting.calls) {
      if (call.worker == worker) requests.push_back(call.request);
    }
    std::erase_if(waiting.calls, [worker](const WaitingCall& call) { return call.worker == worker; });
  }
  return requests;
}

std::map<uint64_t, LocalBarriers::Waiting> LocalBarriers::TakeAll() { return std::exchange(waiting_, {}); }

std::vector<WorkerId> LocalBarriers::Missing(uint64_t barrier, IsAwaited is_awaited) const {
  std::vector<WorkerId> missing;
  for (uint32_t worker = 0; worker < counts_.size() && barrier >= entered_; ++worker) {
    const bool is_there = is_awaited(WorkerId(worker)) && !fetching_.contains(WorkerId(worker));
    if (counts_[worker] <= barrier && is_there) missing.push_back(WorkerId(worker));
  }
  return missing;
}

}  // namespace banyan
