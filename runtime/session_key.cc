#include "runtime/session_key.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

std::optional<uint32_t> FirstFree(const std::vector<bool>& used) {
  const auto free = std::find(used.begin(), used.end(), false);
  if (free == used.end()) return std::nullopt;
  return static_cast<uint32_t>(free - used.begin());
}

}  // namespace

void SessionKey::Opened(TensorId tensor, std::shared_ptr<TensorSegment> segment) {
  state_ = State::kOpened;
  tensor_ = tensor;
  segment_ = std::move(segment);
  gradient_used_.resize(segment_->shape().gradient_slots);
  result_used_.resize(segment_->shape().result_slots);
}

void SessionKey::Fail(absl::Status status) {
  state_ = State::kFailed;
  failure_ = std::move(status);
}

std::optional<SessionKey::Slots> SessionKey::Take(TensorCallKind kind, uint32_t rounds_in_flight) {
  const State needed = kind == TensorCallKind::kInit ? State::kOpened : State::kReady;
  if (state_ != needed) return std::nullopt;
  if (OpensRound(kind) && open_rounds_.size() >= rounds_in_flight) return std::nullopt;
  const std::optional<uint32_t> gradient = HasGradient(kind) ? FirstFree(gradient_used_) : std::optional<uint32_t>(0);
  const std::optional<uint32_t> result = HasResult(kind) ? FirstFree(result_used_) : std::optional<uint32_t>(0);
  if (!gradient || !result) return std::nullopt;
  if (HasGradient(kind)) gradient_used_[*gradient] = true;
  if (HasResult(kind)) {
    result_used_[*result] = true;
    ++awaited_;
  }
  if (OpensRound(kind)) open_rounds_.insert(++last_round_);
  return Slots{*gradient, *result, last_round_};
}

void SessionKey::GradientFreed(uint32_t slot) {
  if (slot < gradient_used_.size()) gradient_used_[slot] = false;
}

void SessionKey::Answered(TensorCallKind kind, const Slots& slots, bool ok) {
  if (!HasResult(kind)) return;
  result_used_[slots.result] = false;
  --awaited_;
  if (kind == TensorCallKind::kInit && ok) state_ = State::kReady;
  // Rounds that nobody pulled ended before this one did.
  if (kind == TensorCallKind::kPull) {
    open_rounds_.erase(open_rounds_.begin(), open_rounds_.upper_bound(slots.round));
  } else {
    open_rounds_.erase(slots.round);
  }
}

}  // namespace banyan
