#include "runtime/session/operation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// A wait that nobody lives to see the end of, in a form that clocks can add to the time.
constexpr absl::Duration kForever = absl::Hours(24 * 365);

}  // namespace

Operation::Operation(std::string what, absl::Span<float> result, Callback on_done)
    : what_(std::move(what)), result_(result), on_done_(std::move(on_done)) {}

void Operation::SetRound(uint64_t round) {
  std::lock_guard<std::mutex> lock(mutex_);
  round_ = round;
  has_round_ = true;
}

uint64_t Operation::round() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return round_;
}

void Operation::SetStep(uint64_t step) {
  std::lock_guard<std::mutex> lock(mutex_);
  step_ = step;
}

uint64_t Operation::step() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return step_;
}

std::string Operation::Description() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return DescriptionLocked();
}

std::string Operation::DescriptionLocked() const {
  return has_round_ ? absl::StrCat(what_, ", round ", round_) : what_;
}

void Operation::Finish(absl::Status status) {
  Callback on_done;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (done_) return;
    done_ = true;
    if (!status.ok()) status = absl::Status(status.code(), absl::StrCat(DescriptionLocked(), ": ", status.message()));
    status_ = status;
    on_done.swap(on_done_);
  }
  finished_.notify_all();
  if (on_done) on_done(status);
}

void Operation::KeepShared(absl::FunctionRef<SlotLease()> lend) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!abandoned_) shared_ = lend();
}

absl::Span<const float> Operation::shared_result() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_ ? shared_.values() : absl::Span<float>();
}

bool Operation::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

absl::Status Operation::Wait(absl::Duration timeout) {
  const auto wait = absl::ToChronoNanoseconds(std::clamp(timeout, absl::ZeroDuration(), kForever));
  std::unique_lock<std::mutex> lock(mutex_);
  if (finished_.wait_for(lock, wait, [this] { return done_; })) return status_;
  return absl::DeadlineExceededError(
      absl::StrCat(DescriptionLocked(), ": not done after ", absl::FormatDuration(timeout), "; it goes on"));
}

void Operation::Abandon() {
  SlotLease shared;  // outlives the lock, as giving it back takes another one
  std::unique_lock<std::mutex> lock(mutex_);
  abandoned_ = true;
  std::swap(shared, shared_);
  if (!result_.empty()) finished_.wait(lock, [this] { return done_; });
}

}  // namespace banyan
