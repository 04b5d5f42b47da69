#include "runtime/worker_gate.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/event.h"

namespace banyan {

WorkerGate::WorkerGate(std::shared_ptr<EventQueue> queue, ComputePool& pool) : queue_(std::move(queue)), pool_(pool) {}

absl::Status WorkerGate::Reserve(WorkerId worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (workers_.insert(worker).second) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("worker ", worker.value(), " is attached already"));
}

void WorkerGate::Release(WorkerId worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  workers_.erase(worker);
}

void WorkerGate::Call(Buffer result, const std::function<WorkerCall(RequestId)>& make, Done done) {
  std::unique_lock<std::mutex> lock(mutex_);
  const RequestId id = std::exchange(next_, next_.Next());
  if (!closed_.ok()) {
    const CompleteRequest complete{id, closed_, KeyId(), Round()};
    lock.unlock();
    return done(complete);
  }
  Request& request = requests_[id];
  request.result = std::move(result);
  request.done = std::move(done);
  queue_->Post(WorkerCalled{make(id)});
}

void WorkerGate::Detach(WorkerId worker, bool clean) {
  std::lock_guard<std::mutex> lock(mutex_);
  workers_.erase(worker);
  if (closed_.ok()) queue_->Post(WorkerCalled{WorkerDetach{worker, clean}});
}

void WorkerGate::Write(WriteResult write) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = requests_.find(write.request);
  if (found == requests_.end() || write.values.empty()) return;
  Request& request = found->second;
  // A request that asked for no result has nowhere to put it.
  if (request.result.empty()) return;
  const int64_t room = request.result.elements() - write.first_element;
  if (write.first_element < 0 || write.values.elements() > room) {
    request.copy_status.Update(
        absl::InternalError(absl::StrCat("a result of ", write.values.elements(), " elements from element ",
                                         write.first_element, " does not fit into ", request.result.elements())));
    return;
  }
  Buffer target = request.result.Slice(write.first_element, write.values.elements());
  if (target.size_bytes() <= ComputePool::kBriefBytes) {
    lock.unlock();
    std::memcpy(target.mutable_data(), write.values.data(), write.values.size_bytes());
    return;
  }
  ++request.copies;
  pool_.Submit([self = shared_from_this(), id = write.request, target, values = std::move(write.values)]() mutable {
    std::memcpy(target.mutable_data(), values.data(), values.size_bytes());
    values = Buffer();
    self->Copied(id);
  });
}

void WorkerGate::Complete(CompleteRequest complete) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto request = requests_.find(complete.request);
  if (request == requests_.end()) return;
  request->second.complete = std::move(complete);
  if (request->second.copies == 0) Finish(std::move(lock), request);
}

void WorkerGate::Copied(RequestId id) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  if (--request->second.copies == 0 && request->second.complete) Finish(std::move(lock), request);
}

void WorkerGate::Finish(std::unique_lock<std::mutex> lock, std::map<RequestId, Request>::iterator found) {
  Request request = std::move(found->second);
  requests_.erase(found);
  lock.unlock();
  request.complete->status.Update(request.copy_status);
  request.result = Buffer();
  request.done(*request.complete);
}

void WorkerGate::Close(absl::Status status) {
  std::map<RequestId, Request> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_.ok()) return;
    closed_ = status;
    waiting.swap(requests_);
  }
  for (auto& [id, request] : waiting) {
    request.done(CompleteRequest{id, status, KeyId(), Round()});
  }
}

}  // namespace banyan
