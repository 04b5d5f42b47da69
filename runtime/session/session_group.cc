#include "runtime/session/session_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/session_messages.h"

namespace banyan {
namespace {

constexpr size_t kMostNamedParts = 3;

// Calls of the same class may fill one round.
TensorCallKind ClassOf(TensorCallKind kind) { return kind == TensorCallKind::kPushPull ? TensorCallKind::kPush : kind; }

absl::string_view NameOf(TensorCallKind kind) {
  if (kind == TensorCallKind::kFlush) return "Flush";
  return kind == TensorCallKind::kBroadcast ? "Broadcast" : "Push";
}

}  // namespace

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

SessionGroup::SessionGroup(std::string name, TensorLayout layout, const Session* session)
    : name_(std::move(name)), layout_(std::move(layout)), session_(session) {
  int64_t first = 0;
  for (const TensorLayout::Part& part : layout_.parts) {
    offsets_.push_back(first);
    first += part.elements;
  }
}

void SessionGroup::Start(const OperationPtr& operation, const Call& call) {
  absl::Status status = CheckShapes(call);
  if (status.ok()) status = call.kind == TensorCallKind::kPull ? Pull(operation, call) : Push(operation, call);
  if (!status.ok()) operation->Finish(status);
}

absl::Status SessionGroup::CheckShapes(const Call& call) const {
  const auto check = [&](size_t index, absl::string_view what, ConstTensorView values) {
    const TensorLayout::Part& part = layout_.parts[call.first + index];
    if (values.elements() != part.elements) {
      return absl::InvalidArgumentError(absl::StrCat("expected a ", what, " of ", part.elements, " elements for ",
                                                     part.name, ", as InitGroup had, got ", values.elements()));
    }
    if (values.type() == layout_.type) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("expected a ", what, " of ", NameOf(layout_.type), " for ",
                                                   part.name, ", as InitGroup had, got ", NameOf(values.type())));
  };
  absl::Status status;
  for (size_t i = 0; i < call.gradients.size(); ++i) status.Update(check(i, "gradient", call.gradients[i]));
  for (size_t i = 0; i < call.results.size(); ++i) status.Update(check(i, "result", call.results[i]));
  return status;
}

void SessionGroup::Add(const OperationPtr& operation, const Call& call, GroupWork& work) const {
  work.operations.push_back(operation);
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (call.results[i].empty()) continue;
    work.targets.push_back({offsets_[call.first + i], call.results[i], work.operations.size() - 1});
  }
}

// ---- pushing ----

absl::Status SessionGroup::Push(const OperationPtr& operation, const Call& call) {
  GatheringPtr gathering;
  Lock lock(mutex_);
  if (absl::Status status = Enter(lock, call); !status.ok()) return status;
  gathering = gathering_;
  for (size_t i = 0; i < call.count; ++i) gathering->has[call.first + i] = true;
  gathering->missing -= call.count;
  gathering->priority = std::max(gathering->priority, call.priority);
  gathering->wants_result = gathering->wants_result || !call.results.empty();
  operation->SetRound(gathering->round);
  Add(operation, call, gathering->work);
  ++gathering->copying;
  lock.unlock();
  uint8_t* const values = gathering->gradient.values().bytes().data();
  for (size_t i = 0; i < call.gradients.size(); ++i) {
    const ConstTensorView& from = call.gradients[i];
    const int64_t offset_bytes = offsets_[call.first + i] * SizeOf(layout_.type);
    if (!from.empty()) std::memcpy(values + offset_bytes, from.data(), from.size_bytes());
  }
  lock.lock();
  const bool leaves = --gathering->copying == 0 && gathering->missing == 0;
  lock.unlock();
  if (leaves) SendOut(gathering);
  return absl::OkStatus();
}

absl::Status SessionGroup::Enter(Lock& lock, const Call& call) {
  while (true) {
    if (!ended_.ok()) return ended_;
    if (gathering_ == nullptr) {
      if (absl::Status status = BeginGathering(lock, call.kind); !status.ok()) return status;
    } else if (gathering_->is_open && gathering_->missing > 0) {
      return CheckEntry(call);
    } else {
      changed_.wait(lock);
    }
  }
}

absl::Status SessionGroup::BeginGathering(Lock& lock, TensorCallKind kind) {
  const GatheringPtr gathering = std::make_shared<Gathering>();
  gathering->kind = ClassOf(kind);
  gathering->has.resize(layout_.parts.size());
  gathering->missing = layout_.parts.size();
  gathering->work.operations.reserve(layout_.parts.size());
  gathering_ = gathering;
  lock.unlock();
  absl::StatusOr<Room> room = session_->lend(name_);
  lock.lock();
  changed_.notify_all();
  if (!room.ok()) {
    gathering_.reset();
    return room.status();
  }
  gathering->gradient = std::move(room->gradient);
  gathering->round = room->round;
  gathering->is_open = true;
  return absl::OkStatus();
}

absl::Status SessionGroup::CheckEntry(const Call& call) const {
  if (gathering_->kind != ClassOf(call.kind)) {
    return absl::FailedPreconditionError(absl::StrCat("the round of group ", name_, " was begun by a ",
                                                      NameOf(gathering_->kind), ", and a ", NameOf(call.kind),
                                                      " of another tensor came"));
  }
  for (size_t part = call.first; part < call.first + call.count; ++part) {
    if (!gathering_->has[part]) continue;
    return absl::FailedPreconditionError(absl::StrCat(layout_.parts[part].name, " is in this round of group ", name_,
                                                      " already, which still waits for ", Missing()));
  }
  return absl::OkStatus();
}

void SessionGroup::SendOut(const GatheringPtr& gathering) {
  PulledPtr last_result;  // outlives the lock, as its slot goes back to the session
  {
    Lock lock(mutex_);
    last_result = std::move(pulled_);
  }
  last_result.reset();
  const bool has_result = gathering->kind != TensorCallKind::kPush;
  const TensorCallKind kind = gathering->wants_result && !has_result ? TensorCallKind::kPushPull : gathering->kind;
  const auto work = std::make_shared<const GroupWork>(std::move(gathering->work));
  session_->start(MakeWholeOperation([work](Operation& whole, const absl::Status& status) {
                    work->Finish(whole, status);
                    whole.Abandon();
                  }),
                  name_, kind, &gathering->gradient, gathering->priority);
  Lock lock(mutex_);
  gathering_.reset();
  changed_.notify_all();
}

// ---- pulling ----

absl::Status SessionGroup::Pull(const OperationPtr& operation, const Call& call) {
  PulledPtr pulled;
  Lock lock(mutex_);
  const absl::StatusOr<GatheringPtr> pushed = FindPushed(lock, call);
  if (!pushed.ok()) return pushed.status();
  if (*pushed != nullptr) {
    (*pushed)->wants_result = true;
    operation->SetRound((*pushed)->round);
    Add(operation, call, (*pushed)->work);
    return absl::OkStatus();
  }
  pulled = pulled_;
  if (pulled == nullptr) {
    StartPull(operation, call, std::move(lock));
    return absl::OkStatus();
  }
  GroupWork work;
  Add(operation, call, pulled->is_there ? work : pulled->work);
  CountPulled(pulled, call.count);
  lock.unlock();
  work.Finish(*pulled->whole, absl::OkStatus());
  return absl::OkStatus();
}

absl::StatusOr<SessionGroup::GatheringPtr> SessionGroup::FindPushed(Lock& lock, const Call& call) {
  while (true) {
    if (!ended_.ok()) return ended_;
    if (gathering_ == nullptr) return GatheringPtr();
    const size_t pushed = CountIn(*gathering_, call);
    if (pushed == 0) return GatheringPtr();
    if (gathering_->missing == 0) {
      changed_.wait(lock);
    } else if (pushed == call.count) {
      return gathering_;
    } else {
      return absl::FailedPreconditionError(absl::StrCat("group ", name_, " still waits for ", Missing()));
    }
  }
}

void SessionGroup::StartPull(const OperationPtr& operation, const Call& call, Lock lock) {
  const PulledPtr pulled = std::make_shared<Pulled>();
  // It holds itself until it is there.
  pulled->whole =
      MakeWholeOperation([this, pulled](Operation&, const absl::Status& status) { OnPulled(pulled, status); });
  pulled->left = layout_.parts.size();
  Add(operation, call, pulled->work);
  pulled_ = pulled;
  CountPulled(pulled, call.count);
  lock.unlock();
  session_->start(pulled->whole, name_, TensorCallKind::kPull, nullptr, 0);
}

void SessionGroup::OnPulled(const PulledPtr& pulled, const absl::Status& status) {
  GroupWork work;
  {
    Lock lock(mutex_);
    pulled->is_there = true;
    work = std::move(pulled->work);
    if (pulled_ == pulled && (!status.ok() || pulled->left == 0)) pulled_.reset();
  }
  work.Finish(*pulled->whole, status);
}

void SessionGroup::CountPulled(const PulledPtr& pulled, size_t parts) {
  pulled->left -= std::min(pulled->left, parts);
  if (pulled->left == 0 && pulled->is_there && pulled_ == pulled) pulled_.reset();
}

// ---- the whole ----

absl::Status SessionGroup::BeginWhole(TensorCallKind kind) {
  PulledPtr last_result;  // outlives the lock
  Lock lock(mutex_);
  if (OpensRound(kind) && gathering_ != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("group ", name_, " is being pushed tensor by tensor, and still waits for ", Missing()));
  }
  last_result = std::move(pulled_);
  return absl::OkStatus();
}

bool SessionGroup::IsFilling() const {
  Lock lock(mutex_);
  return gathering_ != nullptr;
}

std::string SessionGroup::DescribeMissing(uint64_t round) const {
  Lock lock(mutex_);
  if (gathering_ == nullptr || !gathering_->is_open || gathering_->missing == 0) return "";
  if (gathering_->round != round) return "";
  return absl::StrCat("group ", name_, " waits for this worker's own push of ", Missing());
}

void SessionGroup::End(const absl::Status& status) {
  GatheringPtr gathering;
  GroupWork work;
  {
    Lock lock(mutex_);
    ended_ = status;
    // One that is full ends with the session's answer.
    if (gathering_ != nullptr && gathering_->is_open && gathering_->missing > 0) {
      gathering = std::move(gathering_);
      work = std::move(gathering->work);
    }
    changed_.notify_all();
  }
  for (const OperationPtr& operation : work.operations) operation->Finish(status);
}

std::string SessionGroup::Missing() const {
  if (gathering_->missing == 0) return "its turn";
  std::vector<absl::string_view> names;
  for (size_t part = 0; part < layout_.parts.size() && names.size() < kMostNamedParts; ++part) {
    if (!gathering_->has[part]) names.push_back(layout_.parts[part].name);
  }
  const size_t others = gathering_->missing - names.size();
  return absl::StrCat(absl::StrJoin(names, ", "), others > 0 ? absl::StrCat(" and ", others, " others") : "");
}

size_t SessionGroup::CountIn(const Gathering& gathering, const Call& call) const {
  const auto first = gathering.has.begin() + static_cast<std::ptrdiff_t>(call.first);
  return std::count(first, first + static_cast<std::ptrdiff_t>(call.count), true);
}

}  // namespace banyan
