#include "runtime/workers/worker_connection.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/session_codec.h"
#include "proto/session_messages.h"

namespace banyan {
namespace {

constexpr size_t kMaxTensors = 65536;

Buffer WrapSlot(TensorView slot, std::function<void()> release) {
  return Buffer::Wrap(slot.data(), slot.elements(), slot.type(), MemoryKind::kShared, std::move(release));
}

}  // namespace

// ---- the group that is about to be opened ----

absl::Status GroupDescription::Add(const DescribeGroup& described) {
  for (const TensorLayout::Part& part : described.parts) {
    name_bytes_ += part.name.size();
    layout_.parts.push_back(part);
    if (layout_.parts.size() <= TensorLayout::kMostParts && name_bytes_ <= TensorLayout::kMostNameBytes) continue;
    *this = GroupDescription();
    return absl::ResourceExhaustedError(absl::StrCat("expected a group of at most ", TensorLayout::kMostParts,
                                                     " tensors, with names of ", TensorLayout::kMostNameBytes,
                                                     " bytes together"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorLayout> GroupDescription::Take(int64_t elements) {
  TensorLayout layout = std::exchange(*this, GroupDescription()).layout_;
  if (!layout.is_group() || layout.Elements() == elements) return layout;
  return absl::InvalidArgumentError(
      absl::StrCat("expected a group of ", elements, " elements, got tensors of ", layout.Elements()));
}

// ---- the connection ----

WorkerConnection::WorkerConnection(std::shared_ptr<WorkerRequests> requests_of_workers,
                                   std::shared_ptr<SegmentBudget> budget, std::string node_name, Reply reply)
    : requests_of_workers_(std::move(requests_of_workers)),
      budget_(std::move(budget)),
      node_name_(std::move(node_name)),
      reply_(std::move(reply)),
      state_(requests_of_workers_, budget_, [this](WorkerReply answer) { Answer(std::move(answer)); }) {}

absl::Status WorkerConnection::Receive(const WorkerMessage& message) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::OkStatus();
    const bool is_early = std::holds_alternative<AttachWorker>(message) ||
                          std::holds_alternative<WorkerGoodBye>(message) ||
                          (attaching_.has_value() && std::holds_alternative<DescribeWait>(message));
    if (!worker_ && !is_early) {
      return absl::FailedPreconditionError(
          "expected AttachWorker as the first message, and its answer before the next");
    }
  }
  return std::visit([this](const auto& alternative) { return On(alternative); }, message);
}

void WorkerConnection::Close() {
  std::map<TensorId, Tensor> tensors;
  std::unique_lock<std::mutex> lock(mutex_);
  if (std::exchange(closed_, true)) return;
  tensors.swap(tensors_);
  const std::optional<WorkerId> worker = std::exchange(worker_, std::nullopt);
  const bool said_good_bye = said_good_bye_;
  lock.unlock();
  state_.Close();
  if (worker) requests_of_workers_->Detach(*worker, said_good_bye);
}

absl::Status WorkerConnection::On(const AttachWorker& attach) {
  if (attach.protocol_version != kProtocolVersion) {
    Answer(
        CallCompleted{attach.call,
                      absl::FailedPreconditionError(absl::StrCat("the node speaks protocol version ", kProtocolVersion,
                                                                 ", the worker ", attach.protocol_version)),
                      Round()});
    return absl::OkStatus();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (worker_ || attaching_.has_value()) return absl::FailedPreconditionError("AttachWorker came a second time");
    attaching_ = attach.worker;
  }
  // Keeps the connection until the core has answered: only then is it known whether there is a worker to detach.
  requests_of_workers_->Attach(
      attach.worker, MakeNotices(),
      [self = shared_from_this(), attach](const CompleteRequest& complete) { self->Attached(attach, complete); });
  return absl::OkStatus();
}

WorkerRequests::Notices WorkerConnection::MakeNotices() {
  return {.round_complete =
              [weak = weak_from_this()](KeyId key, Round round) {
                if (auto self = weak.lock()) self->RoundComplete(key, round);
              },
          .job_ended =
              [weak = weak_from_this()](const absl::Status& reason) {
                if (auto self = weak.lock()) self->Answer(JobEnded{reason});
              },
          .state_task =
              [weak = weak_from_this()](const StateTask& task) {
                if (auto self = weak.lock()) self->state_.OnTask(task);
              },
          .members =
              [weak = weak_from_this()](const NotifyMembers& told) {
                if (auto self = weak.lock()) self->SendMembers(told);
              },
          .process = process_};
}

void WorkerConnection::SendMembers(const NotifyMembers& told) {
  for (size_t first = 0; first < told.members.size(); first += MembersChanged::kMost) {
    const size_t end = std::min(told.members.size(), first + MembersChanged::kMost);
    Answer(MembersChanged{
        told.epoch, {told.members.begin() + first, told.members.begin() + end}, end < told.members.size()});
  }
}

void WorkerConnection::Attached(const AttachWorker& attach, const CompleteRequest& complete) {
  std::unique_lock<std::mutex> lock(mutex_);
  attaching_.reset();
  if (!complete.status.ok()) {
    lock.unlock();
    if (!absl::IsAlreadyExists(complete.status)) return AnswerCall(attach.call, complete);
    CompleteRequest refused = complete;
    const std::string holder = requests_of_workers_->AttachedBy(attach.worker);
    refused.status = absl::AlreadyExistsError(
        absl::StrCat(complete.status.message(), holder.empty() ? "" : absl::StrCat("; ", holder, " has it")));
    return AnswerCall(attach.call, refused);
  }
  if (closed_) {
    lock.unlock();
    return requests_of_workers_->Detach(attach.worker, /*said_good_bye=*/false);
  }
  worker_ = attach.worker;
  rounds_in_flight_ = std::clamp<uint64_t>(complete.round.value(), 1, kMaxTensorSlots - 1);
  WorkerAttached attached{attach.call, node_name_, rounds_in_flight_, complete.job};
  lock.unlock();
  Answer(std::move(attached));
}

absl::Status WorkerConnection::On(const DescribeGroup& described) {
  std::lock_guard<std::mutex> lock(mutex_);
  return group_.Add(described);
}

absl::Status WorkerConnection::On(const OpenTensor& open) {
  // The node refuses it, and tells those who wait for this Init.
  const auto refuse = [&](const absl::Status& status) {
    return Start(open.call, [&](RequestId request, WorkerId worker) {
      return WorkerCalled{WorkerInit{request, worker, open.name, Buffer(), TensorLayout(), status}};
    });
  };
  if (open.elements == 0) return refuse(absl::OkStatus());
  std::unique_lock<std::mutex> lock(mutex_);
  const bool has_room = tensors_.size() < kMaxTensors;
  absl::StatusOr<TensorLayout> layout = group_.Take(open.elements);
  if (!layout.ok()) return layout.status();
  layout->type = open.type;
  const TensorSegment::Shape shape{open.elements, rounds_in_flight_ + 1, rounds_in_flight_, open.type};
  lock.unlock();
  if (!has_room) {
    return refuse(absl::ResourceExhaustedError(
        absl::StrCat("a worker may have ", kMaxTensors, " keys: initialise small tensors together with InitGroup")));
  }
  const std::string what = absl::StrCat("key ", open.name);
  if (absl::Status taken = budget_->Take(what, shape); !taken.ok()) return refuse(std::move(taken));
  absl::StatusOr<std::shared_ptr<TensorSegment>> segment = TensorSegment::Create(shape);
  if (!segment.ok()) {
    budget_->Return(what, shape);
    return refuse(segment.status());
  }
  Tensor tensor;
  tensor.segment = Counted(*std::move(segment), what, budget_);
  tensor.name = open.name;
  tensor.layout = *std::move(layout);
  tensor.gradient_in_use.resize(shape.gradient_slots);
  tensor.result_in_use.resize(shape.result_slots);
  std::shared_ptr<TensorSegment> memory = tensor.segment;
  lock.lock();
  const TensorId id = std::exchange(next_tensor_, next_tensor_.Next());
  tensors_.emplace(id, std::move(tensor));
  lock.unlock();
  Answer(TensorOpened{open.call, id, shape.elements, shape.gradient_slots, shape.result_slots, shape.type},
         std::move(memory));
  return absl::OkStatus();
}

absl::Status WorkerConnection::CheckCall(const TensorCall& call) const {
  const auto found = tensors_.find(call.tensor);
  if (found == tensors_.end()) return absl::InvalidArgumentError(absl::StrCat("unknown tensor ", call.tensor.value()));
  const Tensor& tensor = found->second;
  if (HasGradient(call.kind) &&
      (call.gradient_slot >= tensor.gradient_in_use.size() || tensor.gradient_in_use[call.gradient_slot])) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient slot ", call.gradient_slot, " of key ", tensor.name, " is not free"));
  }
  if (HasResult(call.kind) &&
      (call.result_slot >= tensor.result_in_use.size() || tensor.result_in_use[call.result_slot])) {
    return absl::InvalidArgumentError(
        absl::StrCat("result slot ", call.result_slot, " of key ", tensor.name, " is not free"));
  }
  if (tensor.known == (call.kind == TensorCallKind::kInit)) {
    return absl::FailedPreconditionError(
        absl::StrCat("key ", tensor.name, tensor.known ? " has had its Init" : " has not had its Init"));
  }
  return absl::OkStatus();
}

// The memory lives as long as the Buffer; the connection is told only while it lives.
Buffer WorkerConnection::TakeGradient(const TensorCall& call) {
  Tensor& tensor = tensors_.at(call.tensor);
  tensor.gradient_in_use[call.gradient_slot] = true;
  return WrapSlot(tensor.segment->gradient(call.gradient_slot),
                  [segment = tensor.segment, weak = weak_from_this(), id = call.tensor, slot = call.gradient_slot] {
                    const auto self = weak.lock();
                    if (self != nullptr && self->Release(id, &Tensor::gradient_in_use, slot)) {
                      self->Answer(SlotFreed{id, slot});
                    }
                  });
}

Buffer WorkerConnection::TakeResult(const TensorCall& call) {
  Tensor& tensor = tensors_.at(call.tensor);
  tensor.result_in_use[call.result_slot] = true;
  // The worker learns it with the end of the call.
  return WrapSlot(tensor.segment->result(call.result_slot),
                  [segment = tensor.segment, weak = weak_from_this(), id = call.tensor, slot = call.result_slot] {
                    if (const auto self = weak.lock()) self->Release(id, &Tensor::result_in_use, slot);
                  });
}

bool WorkerConnection::Release(TensorId id, std::vector<bool> Tensor::*in_use, uint32_t slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto tensor = tensors_.find(id);
  if (tensor == tensors_.end()) return false;  // closed
  (tensor->second.*in_use)[slot] = false;
  return true;
}

absl::Status WorkerConnection::On(const TensorCall& call) {
  Buffer gradient;
  Buffer result;
  KeyId key;
  std::string name;
  TensorLayout layout;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::OkStatus();
    if (absl::Status status = CheckCall(call); !status.ok()) return status;
    if (HasGradient(call.kind)) gradient = TakeGradient(call);
    if (HasResult(call.kind)) result = TakeResult(call);
    Tensor& tensor = tensors_.at(call.tensor);
    key = tensor.key;
    if (call.kind == TensorCallKind::kInit) {
      name = tensor.name;
      layout = std::move(tensor.layout);
    }
  }
  const auto make = [&](RequestId request, WorkerId worker) -> Event {
    switch (call.kind) {
      case TensorCallKind::kInit:
        return WorkerCalled{WorkerInit{request, worker, name, std::move(gradient), std::move(layout)}};
      case TensorCallKind::kPush:
      case TensorCallKind::kPushPull:
      case TensorCallKind::kFlush:
        return WorkerCalled{WorkerPush{request, worker, key, std::move(gradient), call.priority, HasResult(call.kind),
                                       call.kind == TensorCallKind::kFlush, call.not_finite}};
      case TensorCallKind::kPull:
        return WorkerCalled{WorkerPull{request, worker, key}};
      case TensorCallKind::kRegisterWeights:
        return WorkerCalled{WorkerRegisterWeights{request, worker, key, std::move(gradient)}};
      case TensorCallKind::kBroadcast:
        break;
    }
    return WorkerCalled{WorkerBroadcast{request, worker, key, std::move(gradient), call.priority}};
  };
  if (call.kind != TensorCallKind::kInit) return Start(call.call, make, std::move(result));
  return Start(call.call, make, std::move(result),
               [id = call.call, tensor = call.tensor](WorkerConnection& self, const CompleteRequest& complete) {
                 self.InitDone(tensor, complete);
                 self.AnswerCall(id, complete);
               });
}

void WorkerConnection::InitDone(TensorId id, const CompleteRequest& complete) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto tensor = tensors_.find(id);
  if (tensor == tensors_.end()) return;  // closed
  // Another Init of the name brings memory of its own.
  if (!complete.status.ok()) {
    tensors_.erase(tensor);
    return;
  }
  tensor->second.known = true;
  tensor->second.key = complete.key;
  by_key_[complete.key] = id;
}

void WorkerConnection::RoundComplete(KeyId key, Round round) {
  TensorId tensor;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    tensor = found->second;
  }
  Answer(RoundCompleted{tensor, round});
}

absl::Status WorkerConnection::On(const BarrierCall& call) {
  return Start(call.call, [](RequestId request, WorkerId worker) {
    return WorkerCalled{WorkerBarrier{request, worker}};
  });
}

absl::Status WorkerConnection::On(const ReportLossCall& call) {
  return Start(call.call, [&call](RequestId request, WorkerId worker) {
    return WorkerCalled{WorkerReportLoss{request, worker, call.step, call.loss, call.progress,
                                         call.learning_rate_fraction, call.metric}};
  });
}

absl::Status WorkerConnection::On(const DescribeWait& question) {
  WorkerId worker;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || (!worker_ && !attaching_)) return absl::OkStatus();
    worker = worker_ ? *worker_ : *attaching_;
  }
  return requests_of_workers_->Ask({RequestId(), worker, question.key},
                                   [weak = weak_from_this(), call = question.call](const CompleteRequest& complete) {
                                     const auto self = weak.lock();
                                     if (self) self->Answer(CallCompleted{call, complete.status, Round()});
                                   });
}

absl::Status WorkerConnection::Start(CallId call, const Make& make, Buffer result, Done done) {
  const std::optional<WorkerId> worker = AttachedWorker();
  if (!worker.has_value()) return absl::OkStatus();
  return requests_of_workers_->Call(
      *worker, std::move(result), [&](RequestId request) { return make(request, *worker); },
      [weak = weak_from_this(), call, done = std::move(done)](const CompleteRequest& complete) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        if (done) return done(*self, complete);
        self->AnswerCall(call, complete);
      });
}

// ---- the training state ----

std::optional<WorkerId> WorkerConnection::AttachedWorker() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_ ? std::nullopt : worker_;
}

bool WorkerConnection::IsAttaching() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return attaching_.has_value();
}

absl::Status WorkerConnection::On(const ShareStateCall& call) {
  const bool has_new_parts = state_.HasNewParts();
  const absl::StatusOr<StateShape> shape = has_new_parts ? state_.Open() : StateShape();
  if (!shape.ok()) {
    Answer(CallCompleted{call.call, shape.status(), Round()});
    return absl::OkStatus();
  }
  const auto make = [&](RequestId request, WorkerId worker) {
    return StateCalled{WorkerShareState{request, worker, *shape}};
  };
  if (!has_new_parts) return Start(call.call, make);
  return Start(call.call, make, Buffer(), [id = call.call](WorkerConnection& self, const CompleteRequest& complete) {
    if (!complete.status.ok()) return self.AnswerCall(id, complete);
    self.Answer(self.state_.Opened(id), self.state_.segment());
  });
}

absl::Status WorkerConnection::On(const BoundaryCall& call) {
  return Start(call.call, [&call](RequestId request, WorkerId worker) {
    return StateCalled{WorkerPassBoundary{request, worker, call.step}};
  });
}

absl::Status WorkerConnection::On(const LeaveBoundary&) {
  const std::optional<WorkerId> worker = AttachedWorker();
  if (worker.has_value()) requests_of_workers_->PostState(WorkerLeaveBoundary{*worker});
  return absl::OkStatus();
}

absl::Status WorkerConnection::On(const FetchStateCall& call) {
  return Start(call.call, [&call](RequestId request, WorkerId worker) {
    return StateCalled{WorkerFetchState{request, worker, call.timeout}};
  });
}

absl::Status WorkerConnection::On(const StateFilled& filled) {
  const std::optional<WorkerId> worker = AttachedWorker();
  return worker.has_value() ? state_.OnFilled(*worker, filled) : absl::OkStatus();
}

absl::Status WorkerConnection::On(const StateTaken& taken) {
  const std::optional<WorkerId> worker = AttachedWorker();
  return worker.has_value() ? state_.OnTaken(*worker, taken) : absl::OkStatus();
}

absl::Status WorkerConnection::On(const WorkerGoodBye&) {
  std::lock_guard<std::mutex> lock(mutex_);
  said_good_bye_ = true;
  return absl::OkStatus();
}

void WorkerConnection::AnswerCall(CallId call, const CompleteRequest& complete) {
  Answer(CallCompleted{call, complete.status, complete.round, complete.step});
}

void WorkerConnection::Answer(WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
  }
  reply_(std::move(reply), std::move(segment));
}

}  // namespace banyan
