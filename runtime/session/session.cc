#include "runtime/session/session.h"

#include <utility>

#include "proto/session_messages.h"
#include "runtime/session/operation.h"
#include "runtime/session/session_core.h"
#include "runtime/session/slot_lease.h"
#include "runtime/session/unix_port.h"

namespace banyan {
namespace {

SessionCore::Settings SettingsOf(CallOptions options) { return {.on_done = std::move(options.on_done)}; }

SessionCore::Settings SettingsOf(PushOptions options) {
  return {.priority = options.priority, .on_done = std::move(options.on_done)};
}

}  // namespace

Ticket::Ticket() = default;
Ticket::Ticket(std::shared_ptr<Operation> operation) : operation_(std::move(operation)) {}
Ticket::Ticket(Ticket&&) noexcept = default;

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (operation_ != other.operation_) Release();
  operation_ = std::move(other.operation_);
  return *this;
}

Ticket::~Ticket() { Release(); }

void Ticket::Release() {
  if (!operation_) return;
  if (operation_->IsHere()) return operation_->Abandon();
  // A forked child's copy of what the parent waits for: it stays as it is.
  new std::shared_ptr<Operation>(std::move(operation_));
}

absl::Status Ticket::Wait(absl::Duration timeout) { return operation_ ? operation_->Wait(timeout) : absl::OkStatus(); }
bool Ticket::done() const { return !operation_ || operation_->done(); }
uint64_t Ticket::round() const { return operation_ ? operation_->round() : 0; }

ConstTensorView Ticket::shared_tensor() const { return operation_ ? operation_->shared_result() : ConstTensorView(); }

SharedGradient::SharedGradient(SlotLease lease) : lease_(std::make_unique<SlotLease>(std::move(lease))) {}
SharedGradient::SharedGradient(SharedGradient&&) noexcept = default;
SharedGradient& SharedGradient::operator=(SharedGradient&& other) noexcept = default;
SharedGradient::~SharedGradient() = default;

TensorView SharedGradient::tensor() const { return lease_ ? lease_->values() : TensorView(); }

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const SessionOptions& options) {
  const auto connect = [&options](absl::Duration timeout) -> absl::StatusOr<std::shared_ptr<SessionPort>> {
    return UnixPort::Connect(options.node, timeout, options.answer_timeout);
  };
  absl::StatusOr<std::unique_ptr<SessionCore>> core =
      OpenSessionCore(connect, WorkerId(options.worker), options.open_timeout,
                      {.answer = options.answer_timeout, .room = options.room_timeout});
  if (!core.ok()) return core.status();
  return std::make_unique<Session>(*std::move(core));
}

Session::Session(std::unique_ptr<SessionCore> core) : core_(std::move(core)) {}
// Explicitly, as callbacks may use the session until the last one has run.
Session::~Session() {
  if (core_->IsHere()) {
    core_->Close();
  } else {
    // A forked child has none of its threads, and must not say good-bye for the parent.
    (void)core_.release();
  }
}

void Session::Close() {
  if (core_->IsHere()) core_->SayGoodBye();
}

void Session::Abandon() {
  if (core_->IsHere()) core_->Abandon();
}

Ticket Session::Init(absl::string_view key, ConstTensorView values, TensorView agreed, CallOptions options) {
  return Ticket(core_->Init(key, values, agreed, SettingsOf(std::move(options))));
}

Ticket Session::Init(absl::string_view key, ConstTensorView values) { return Init(key, values, {}); }

Ticket Session::InitGroup(absl::string_view group, absl::Span<const GroupPart> parts, CallOptions options) {
  std::vector<SessionGroups::Part> named;
  named.reserve(parts.size());
  for (const GroupPart& part : parts) named.push_back({part.name, part.values, part.agreed});
  return Ticket(core_->groups().Init(group, named, std::move(options.on_done)));
}

Ticket Session::PushGroup(absl::string_view group, absl::Span<const ConstTensorView> gradients, PushOptions options) {
  return Ticket(core_->groups().StartAll(TensorCallKind::kPush, group, gradients, {}, options.priority,
                                         std::move(options.on_done)));
}

Ticket Session::PullGroup(absl::string_view group, absl::Span<const TensorView> results, CallOptions options) {
  return Ticket(
      core_->groups().StartAll(TensorCallKind::kPull, group, {}, results, /*priority=*/0, std::move(options.on_done)));
}

Ticket Session::PushPullGroup(absl::string_view group, absl::Span<const ConstTensorView> gradients,
                              absl::Span<const TensorView> results, PushOptions options) {
  return Ticket(core_->groups().StartAll(TensorCallKind::kPushPull, group, gradients, results, options.priority,
                                         std::move(options.on_done)));
}

Ticket Session::Push(absl::string_view key, ConstTensorView gradient, PushOptions options) {
  return Ticket(core_->Start(TensorCallKind::kPush, key, gradient, {}, SettingsOf(std::move(options))));
}

Ticket Session::Pull(absl::string_view key, TensorView result, CallOptions options) {
  return Ticket(core_->Start(TensorCallKind::kPull, key, {}, result, SettingsOf(std::move(options))));
}

Ticket Session::PushPull(absl::string_view key, ConstTensorView gradient, TensorView result, PushOptions options) {
  return Ticket(core_->Start(TensorCallKind::kPushPull, key, gradient, result, SettingsOf(std::move(options))));
}

absl::StatusOr<SharedGradient> Session::ShareGradient(absl::string_view key) {
  absl::StatusOr<SlotLease> lease = core_->LendGradient(key);
  if (!lease.ok()) return lease.status();
  return SharedGradient(*std::move(lease));
}

Ticket Session::Push(absl::string_view key, SharedGradient&& gradient, PushOptions options) {
  SlotLease* const lease = gradient.lease_.get();
  return Ticket(core_->StartShared(TensorCallKind::kPush, key, lease, SettingsOf(std::move(options))));
}

Ticket Session::Pull(absl::string_view key, CallOptions options) {
  return Ticket(core_->StartShared(TensorCallKind::kPull, key, nullptr, SettingsOf(std::move(options))));
}

Ticket Session::PushPull(absl::string_view key, SharedGradient&& gradient, PushOptions options) {
  SlotLease* const lease = gradient.lease_.get();
  return Ticket(core_->StartShared(TensorCallKind::kPushPull, key, lease, SettingsOf(std::move(options))));
}

Ticket Session::Flush(absl::string_view key, ConstTensorView gradient, TensorView result, PushOptions options) {
  return Ticket(core_->Start(TensorCallKind::kFlush, key, gradient, result, SettingsOf(std::move(options))));
}

Ticket Session::Broadcast(absl::string_view key, ConstTensorView values, TensorView result, PushOptions options) {
  return Ticket(core_->Start(TensorCallKind::kBroadcast, key, values, result, SettingsOf(std::move(options))));
}

Ticket Session::RegisterWeights(absl::string_view key, ConstTensorView weights, CallOptions options) {
  return Ticket(core_->Start(TensorCallKind::kRegisterWeights, key, weights, {}, SettingsOf(std::move(options))));
}

Ticket Session::Barrier(CallOptions options) { return Ticket(core_->Barrier(SettingsOf(std::move(options)))); }

Ticket Session::ReportLoss(uint64_t step, double loss, CallOptions options) {
  return ReportHealth({.step = step, .loss = loss}, std::move(options));
}

Ticket Session::ReportHealth(const TrainingHealthReport& health, CallOptions options) {
  const ReportLossCall report{{},           health.step, health.loss, health.progress, health.learning_rate_fraction,
                              health.metric};
  return Ticket(core_->ReportLoss(report, SettingsOf(std::move(options))));
}

absl::Status Session::ShareState(std::vector<StatePart> parts) {
  std::vector<SessionState::Part> named;
  for (StatePart& part : parts) named.push_back({std::move(part.name), part.memory});
  return core_->state().Share(std::move(named));
}

bool Session::HasSharedState() const { return core_->state().has_said(); }

absl::StatusOr<bool> Session::IsBoundaryHeld() const { return core_->state().IsBoundaryHeld(); }

absl::Status Session::PassBoundary(uint64_t step, absl::Duration timeout) {
  return core_->state().PassBoundary(step, timeout);
}

absl::StatusOr<uint64_t> Session::FetchState(absl::Duration timeout) { return core_->state().Fetch(timeout); }

absl::StatusOr<JobNodes> Session::Members(uint64_t after, absl::Duration timeout) const {
  const absl::StatusOr<MembersChanged> told = core_->Members(after, timeout);
  if (!told.ok()) return told.status();
  JobNodes members;
  members.epoch = told->epoch.value();
  for (const JobMember& member : told->members) {
    if (member.name == node_name()) members.rank = members.world_size + core_->worker().value();
    members.world_size += member.workers;
    members.nodes.push_back({member.name, member.workers});
  }
  return members;
}
const std::string& Session::node_name() const { return core_->node_name(); }

absl::string_view Session::aggregation_op() const { return NameOf(core_->job().op); }

bool Session::may_leave_out() const { return core_->job().may_leave_out; }

}  // namespace banyan
