#include "runtime/workers/worker_requests.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"

namespace banyan {
namespace {

TensorView ViewOf(Buffer& buffer) { return {buffer.mutable_data(), buffer.elements(), buffer.type()}; }

}  // namespace

WorkerRequests::WorkerRequests(std::shared_ptr<EventQueue> queue, ComputePool& pool)
    : queue_(std::move(queue)), pool_(pool) {}

void WorkerRequests::Attach(WorkerId worker, Notices notices, Done done) {
  Request request;
  request.worker = worker;
  request.attaching = std::make_shared<const Notices>(std::move(notices));
  request.done = std::move(done);
  std::unique_lock<std::mutex> lock(mutex_);
  if (!closed_.ok()) {
    lock.unlock();
    return End(std::move(request), closed_);
  }
  const auto [behind, is_first] = attaching_.try_emplace(worker);
  if (is_first) {
    StartAttach(std::move(request));
  } else {
    behind->second.push_back(std::move(request));
  }
}

void WorkerRequests::StartAttach(Request request) {
  const WorkerId worker = request.worker;
  Start(std::move(request), [worker](RequestId id) { return WorkerCalled{WorkerAttach{id, worker}}; });
}

void WorkerRequests::End(Request request, const absl::Status& status) {
  request.result = Buffer();
  request.done(CompleteRequest{RequestId(), status, KeyId(), Round()});
}

void WorkerRequests::AttachNext(WorkerId worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto behind = attaching_.find(worker);
  if (behind == attaching_.end()) return;  // closed
  if (behind->second.empty()) {
    attaching_.erase(behind);
    return;
  }
  Request next = std::move(behind->second.front());
  behind->second.pop_front();
  StartAttach(std::move(next));
}

absl::Status WorkerRequests::Call(WorkerId worker, Buffer result, const std::function<Event(RequestId)>& make,
                                  Done done) {
  Request request;
  request.worker = worker;
  request.result = std::move(result);
  request.done = std::move(done);
  return Begin(std::move(request), make);
}

absl::Status WorkerRequests::Ask(WorkerDescribeWait question, Done done) {
  Request request;
  request.worker = question.worker;
  request.is_question = true;
  request.done = std::move(done);
  return Begin(std::move(request), [&](RequestId id) {
    question.request = id;
    return WorkerCalled{std::move(question)};
  });
}

absl::Status WorkerRequests::Begin(Request request, const std::function<Event(RequestId)>& make) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!closed_.ok()) {
    lock.unlock();
    End(std::move(request), closed_);
    return absl::OkStatus();
  }
  const int limit = request.is_question ? kMostQuestions : kMaxWaitingCalls;
  if (LoadOf(request) >= limit) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", limit, request.is_question ? " questions" : " calls",
                                                     " of one worker wait for their answer"));
  }
  Start(std::move(request), make);
  return absl::OkStatus();
}

int& WorkerRequests::LoadOf(const Request& request) {
  Load& load = loads_[request.worker];
  return request.is_question ? load.questions : load.calls;
}

void WorkerRequests::Unload(const Request& request) {
  --LoadOf(request);
  const auto load = loads_.find(request.worker);
  if (load->second.calls == 0 && load->second.questions == 0) loads_.erase(load);
}

void WorkerRequests::Start(Request request, const std::function<Event(RequestId)>& make) {
  const RequestId id = std::exchange(next_, next_.Next());
  ++LoadOf(request);
  requests_.emplace(id, std::move(request));
  queue_->Post(make(id));
}

void WorkerRequests::PostState(StateCall call) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.ok()) queue_->Post(StateCalled{std::move(call)});
}

void WorkerRequests::Detach(WorkerId worker, bool said_good_bye) {
  std::vector<Request> forgotten;  // outlive the lock, as memory goes with them
  std::lock_guard<std::mutex> lock(mutex_);
  workers_.erase(worker);
  bool is_clean = said_good_bye;
  for (auto next = requests_.begin(); next != requests_.end();) {
    const auto request = next++;
    // One that attaches is another process, which waits for this one to be gone.
    if (request->second.worker != worker || request->second.attaching != nullptr) continue;
    Unload(request->second);
    is_clean = is_clean && request->second.is_question;
    forgotten.push_back(std::move(request->second));
    requests_.erase(request);
  }
  if (closed_.ok()) queue_->Post(WorkerCalled{WorkerDetach{worker, is_clean}});
}

std::string WorkerRequests::AttachedBy(WorkerId worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = workers_.find(worker);
  return found == workers_.end() ? "" : found->second->process;
}

void WorkerRequests::Write(WriteResult write) {
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
    CopyRounded(write.values, ViewOf(target));
    return;
  }
  ++request.copies;
  pool_.Submit([self = shared_from_this(), id = write.request, target, values = std::move(write.values)]() mutable {
    CopyRounded(values, ViewOf(target));
    values = target = Buffer();
    self->Copied(id);
  });
}

void WorkerRequests::Complete(CompleteRequest complete) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto request = requests_.find(complete.request);
  if (request == requests_.end()) return;
  request->second.complete = std::move(complete);
  if (request->second.copies == 0) Finish(std::move(lock), request);
}

void WorkerRequests::Copied(RequestId id) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  if (--request->second.copies == 0 && request->second.complete) Finish(std::move(lock), request);
}

void WorkerRequests::Finish(std::unique_lock<std::mutex> lock, std::map<RequestId, Request>::iterator found) {
  Request request = std::move(found->second);
  requests_.erase(found);
  Unload(request);
  if (request.attaching && request.complete->status.ok()) workers_[request.worker] = request.attaching;
  const bool is_attached = request.attaching && request.complete->status.ok();
  const bool is_to_hold = is_held_ && is_attached;
  const std::optional<NotifyMembers> members = is_attached ? members_ : std::nullopt;
  lock.unlock();
  request.complete->status.Update(request.copy_status);
  request.result = Buffer();
  request.done(*request.complete);
  if (is_to_hold && request.attaching->state_task) request.attaching->state_task(HoldWorkers{true});
  if (members.has_value() && request.attaching->members) request.attaching->members(*members);
  if (request.attaching) AttachNext(request.worker);
}

void WorkerRequests::Notify(const NotifyRoundComplete& told) {
  std::shared_ptr<const Notices> notices;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto worker = workers_.find(told.worker);
    if (worker == workers_.end()) return;  // it has left
    notices = worker->second;
  }
  notices->round_complete(told.key, told.round);
}

void WorkerRequests::Notify(const NotifyJobEnded& told) {
  std::map<WorkerId, std::shared_ptr<const Notices>> workers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    workers = workers_;
  }
  for (const auto& [worker, notices] : workers) notices->job_ended(told.reason);
}

void WorkerRequests::Notify(NotifyMembers told) {
  std::map<WorkerId, std::shared_ptr<const Notices>> workers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    members_ = told;
    workers = workers_;
  }
  for (const auto& [worker, notices] : workers) {
    if (notices->members) notices->members(told);
  }
}

void WorkerRequests::Ask(const StateTask& task) {
  std::map<WorkerId, std::shared_ptr<const Notices>> workers;
  const auto* read = std::get_if<ReadState>(&task);
  const auto* write = std::get_if<WriteState>(&task);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const auto* hold = std::get_if<HoldWorkers>(&task)) is_held_ = hold->is_held;
    workers = workers_;
  }
  for (const auto& [worker, notices] : workers) {
    if (read != nullptr && read->worker != worker) continue;
    if (write != nullptr && write->worker != worker) continue;
    if (notices->state_task) notices->state_task(task);
  }
}

void WorkerRequests::Close(absl::Status status) {
  std::map<RequestId, Request> waiting;
  std::map<WorkerId, std::deque<Request>> attaching;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_.ok()) return;
    closed_ = status;
    waiting.swap(requests_);
    attaching.swap(attaching_);
    loads_.clear();
  }
  Notify(NotifyJobEnded{status});
  for (auto& [id, request] : waiting) End(std::move(request), status);
  for (auto& [worker, behind] : attaching) {
    for (Request& request : behind) End(std::move(request), status);
  }
}

}  // namespace banyan
