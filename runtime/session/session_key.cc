#include "runtime/session/session_key.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

std::optional<uint32_t> SessionKey::FirstFree(const std::vector<Holder>& slots) {
  const auto free = std::find(slots.begin(), slots.end(), Holder::kNobody);
  if (free == slots.end()) return std::nullopt;
  return static_cast<uint32_t>(free - slots.begin());
}

bool SessionKey::AllLent(const std::vector<Holder>& slots) {
  return !slots.empty() &&
         std::all_of(slots.begin(), slots.end(), [](Holder holder) { return holder == Holder::kWorker; });
}

void SessionKey::Opened(TensorId tensor, std::shared_ptr<TensorSegment> segment) {
  state_ = State::kOpened;
  tensor_ = tensor;
  segment_ = std::move(segment);
  gradients_.resize(segment_->shape().gradient_slots);
  results_.resize(segment_->shape().result_slots);
}

void SessionKey::Fail(absl::Status status) {
  state_ = State::kFailed;
  failure_ = std::move(status);
}

void SessionKey::Keep(TensorId tensor, std::shared_ptr<TensorSegment> segment) {
  Opened(tensor, std::move(segment));
  state_ = State::kFailed;
}

bool SessionKey::Retry() {
  if (state_ != State::kFailed || !absl::IsUnavailable(failure_) || is_refused_) return false;
  state_ = segment_ == nullptr ? State::kOpening : State::kOpened;
  failure_ = absl::OkStatus();
  return true;
}

std::optional<SessionKey::Slots> SessionKey::Take(TensorCallKind kind, uint32_t rounds_in_flight,
                                                  std::optional<uint32_t> lent) {
  const State needed = kind == TensorCallKind::kInit ? State::kOpened : State::kReady;
  if (state_ != needed) return std::nullopt;
  if (OpensRound(kind) && open_rounds_.size() >= rounds_in_flight) return std::nullopt;
  std::optional<uint32_t> gradient = 0;
  if (HasGradient(kind)) gradient = lent ? lent : FirstFree(gradients_);
  const std::optional<uint32_t> result = HasResult(kind) ? FirstFree(results_) : std::optional<uint32_t>(0);
  if (!gradient || !result) return std::nullopt;
  if (HasGradient(kind)) gradients_[*gradient] = Holder::kNode;
  if (HasResult(kind)) results_[*result] = Holder::kNode;
  if (OpensRound(kind)) open_rounds_[++last_round_] = std::nullopt;
  return Slots{*gradient, *result, last_round_};
}

void SessionKey::GradientFreed(uint32_t slot) {
  if (slot < gradients_.size()) gradients_[slot] = Holder::kNobody;
}

std::optional<uint32_t> SessionKey::LendGradient() {
  if (state_ != State::kReady) return std::nullopt;
  const std::optional<uint32_t> slot = FirstFree(gradients_);
  if (slot) gradients_[*slot] = Holder::kWorker;
  return slot;
}

void SessionKey::LendResult(uint32_t slot, Holder holder) {
  BANYAN_CHECK(results_.at(slot) == Holder::kNobody);
  results_[slot] = holder;
}

void SessionKey::GiveBackGradient(uint32_t slot) {
  BANYAN_CHECK(gradients_.at(slot) == Holder::kWorker);
  gradients_[slot] = Holder::kNobody;
}

void SessionKey::GiveBackResult(uint32_t slot) {
  BANYAN_CHECK(results_.at(slot) == Holder::kWorker || results_.at(slot) == Holder::kSession);
  results_[slot] = Holder::kNobody;
}

absl::Status SessionKey::CheckShapes(TensorCallKind kind, ConstTensorView gradient, ConstTensorView result) const {
  const auto check = [this](absl::string_view what, ConstTensorView values) {
    if (values.elements() != elements_) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a ", what, " of ", elements_, " elements, as Init had, got ", values.elements()));
    }
    if (values.type() == type_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("expected a ", what, " of ", NameOf(type_), ", as Init had, got ", NameOf(values.type())));
  };
  absl::Status status;
  const absl::string_view what = kind == TensorCallKind::kRegisterWeights ? "weight tensor" : "gradient";
  if (HasGradient(kind)) status = check(what, gradient);
  if (status.ok() && HasResult(kind)) status = check("result", result);
  return status;
}

absl::Status SessionKey::CheckHeld(bool gradient, bool result) const {
  if (gradient && AllLent(gradients_)) {
    return absl::FailedPreconditionError(absl::StrCat("this worker holds all ", gradients_.size(),
                                                      " shared gradients; push or destroy one before the next"));
  }
  if (result && AllLent(results_)) {
    return absl::FailedPreconditionError(absl::StrCat("this worker holds all ", results_.size(),
                                                      " shared results; destroy the ticket of one before the next"));
  }
  return absl::OkStatus();
}

void SessionKey::Answered(TensorCallKind kind, const Slots& slots, bool ok, uint64_t round) {
  if (HasResult(kind)) results_[slots.result] = Holder::kNobody;
  if (kind == TensorCallKind::kInit && ok) state_ = State::kReady;
  // The node has taken its memory back.
  if (kind == TensorCallKind::kInit && !ok) is_refused_ = true;
  // Even a Pull that has failed: nothing else will say that the round is over.
  if (kind == TensorCallKind::kPull) RoundCompleted(round);
  if (!OpensRound(kind)) return;
  if (ok && !HasResult(kind)) {
    open_rounds_[slots.round] = round;
  } else {
    open_rounds_.erase(slots.round);
  }
}

void SessionKey::RoundCompleted(uint64_t round) {
  std::erase_if(open_rounds_, [round](const auto& open) { return open.second == round; });
}

// ---- all of a session ----

absl::Status SessionKeys::Add(const std::string& name, int64_t elements, DataType type) {
  const auto [key, added] = named.try_emplace(name, elements, type);
  if (added) return absl::OkStatus();
  if (key->second.state() == SessionKey::State::kFailed) {
    const bool is_same = key->second.elements() == elements && key->second.type() == type;
    if (is_same && key->second.Retry()) return absl::OkStatus();
    named.erase(key);
    named.try_emplace(name, elements, type);
    return absl::OkStatus();
  }
  const std::string text = absl::StrCat("Init came before, with ", key->second.elements(), " elements");
  if (key->second.elements() != elements) {
    return absl::InvalidArgumentError(absl::StrCat(text, ", and now has ", elements));
  }
  if (key->second.type() == type) return absl::AlreadyExistsError(text);
  return absl::InvalidArgumentError(
      absl::StrCat("Init came before, of ", NameOf(key->second.type()), ", and now is of ", NameOf(type)));
}

}  // namespace banyan
