#include "runtime/session/room.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// In a form that clocks can add to the time.
constexpr absl::Duration kLongestWait = absl::Hours(24 * 365);
// Before the time-out, for the answer to the question for whom it waits.
constexpr absl::Duration kRoomAnswer = absl::Seconds(1);

// What the question has brought. Thread-safe; shared with the question, which may outlive the wait.
class Answer {
 public:
  void Set(const absl::Status& answer) {
    if (!absl::IsDeadlineExceeded(answer)) return;
    std::lock_guard<std::mutex> lock(mutex_);
    text_ = absl::StrCat(": ", answer.message());
  }
  std::string text() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

// The waits of one call. Thread-compatible; guarded by the mutex of `keys`.
class RoomWait {
 public:
  RoomWait(SessionKeys& keys, absl::Duration timeout)
      : keys_(keys),
        timeout_(std::clamp(timeout, absl::ZeroDuration(), kLongestWait)),
        deadline_(SteadyNow() + timeout_),
        ask_at_(deadline_ + -std::min(kRoomAnswer, timeout_ / 2)) {}

  // Waits for a change; false when the time is over. Asks once, shortly before that.
  bool Wait(std::unique_lock<std::mutex>& lock, AskWhom ask) {
    const Timestamp until = has_asked_ ? deadline_ : ask_at_;
    const absl::Duration left = std::max(until - SteadyNow(), absl::ZeroDuration());
    keys_.changed.wait_for(lock, absl::ToChronoNanoseconds(left));
    if (SteadyNow() < until) return true;
    if (std::exchange(has_asked_, true)) return false;
    lock.unlock();
    ask([answer = answer_](const absl::Status& status) { answer->Set(status); });
    lock.lock();
    return true;
  }
  std::string answer() const { return answer_->text(); }

 private:
  SessionKeys& keys_;
  const absl::Duration timeout_;
  const Timestamp deadline_;
  const Timestamp ask_at_;
  bool has_asked_ = false;
  const std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();
};

}  // namespace

absl::StatusOr<SessionKey::Slots> ReserveRoom(std::unique_lock<std::mutex>& lock, SessionKeys& keys,
                                              const std::string& name, const RoomNeeds& needs,
                                              const absl::Status& failure, TakeSlots take, AskWhom ask) {
  SessionKey& key = keys.named.at(name);
  RoomWait wait(keys, needs.timeout);
  bool is_late = false;
  while (true) {
    if (!failure.ok()) return failure;
    if (key.state() == SessionKey::State::kFailed) return key.failure();
    if (const std::optional<SessionKey::Slots> slots = take(key)) return *slots;
    if (absl::Status held = key.CheckHeld(needs.gradient, needs.result); !held.ok()) return held;
    if (is_late) break;
    is_late = !wait.Wait(lock, ask);
  }
  const bool is_ready = key.state() == SessionKey::State::kReady;
  return absl::DeadlineExceededError(absl::StrCat(is_ready ? "no room for this call" : "the key's Init was not done",
                                                  " after ", absl::FormatDuration(needs.timeout),
                                                  "; it was not started", wait.answer()));
}

}  // namespace banyan
