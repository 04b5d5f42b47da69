#include "runtime/session/operation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// A wait that nobody lives to see the end of, in a form that clocks can add to the time.
constexpr absl::Duration kForever = absl::Hours(24 * 365);
// For the answer to the question whom an operation waits for; of a short wait its half.
constexpr absl::Duration kAnswer = absl::Seconds(1);

}  // namespace

Operation::Operation(std::string what, TensorView result, Callback on_done)
    : what_(std::move(what)), result_(result), on_done_(std::move(on_done)) {}

void Operation::SetRound(uint64_t round) {
  std::lock_guard<std::mutex> lock(mutex_);
  round_ = round;
  has_round_ = true;
}

uint64_t Operation::round() const {
  if (!IsHere()) return 0;
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
    if (!status.ok() && !what_.empty())
      status = absl::Status(status.code(), absl::StrCat(DescriptionLocked(), ": ", status.message()));
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

ConstTensorView Operation::shared_result() const {
  if (!IsHere()) return {};
  std::lock_guard<std::mutex> lock(mutex_);
  return done_ ? shared_.values() : TensorView();
}

bool Operation::done() const {
  if (!IsHere()) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

void Operation::AskBeforeTimeout(std::function<void()> ask) {
  std::lock_guard<std::mutex> lock(mutex_);
  ask_ = std::move(ask);
}

void Operation::SetWait(std::string wait) {
  std::lock_guard<std::mutex> lock(mutex_);
  wait_ = std::move(wait);
}

bool Operation::WaitUntil(std::unique_lock<std::mutex>& lock, Timestamp deadline) {
  const auto left = absl::ToChronoNanoseconds(std::max(deadline - SteadyNow(), absl::ZeroDuration()));
  return finished_.wait_for(lock, left, [this] { return done_; });
}

absl::Status Operation::Wait(absl::Duration timeout) {
  if (absl::Status here = process_.Check("session"); !here.ok()) {
    return absl::Status(here.code(), absl::StrCat(what_, ": ", here.message()));
  }
  const absl::Duration bounded = std::clamp(timeout, absl::ZeroDuration(), kForever);
  const Timestamp deadline = SteadyNow() + bounded;
  std::unique_lock<std::mutex> lock(mutex_);
  if (ask_ && bounded > absl::ZeroDuration()) {
    if (WaitUntil(lock, deadline + -std::min(kAnswer, bounded / 2))) return status_;
    const std::function<void()> ask = ask_;
    lock.unlock();
    ask();
    lock.lock();
  }
  if (WaitUntil(lock, deadline)) return status_;
  return absl::DeadlineExceededError(
      absl::StrCat(DescriptionLocked(), ": not done after ",
                   absl::FormatDuration(absl::Trunc(timeout + absl::Microseconds(500), absl::Milliseconds(1))),
                   "; it goes on", wait_.empty() ? "" : ": ", wait_));
}

void Operation::Abandon() {
  SlotLease shared;  // outlives the lock, as giving it back takes another one
  {
    std::lock_guard<std::mutex> lock(mutex_);
    abandoned_ = true;
    std::swap(shared, shared_);
    if (on_done_) return;
  }
  std::lock_guard<std::mutex> lock(result_mutex_);
  has_result_ = false;
}

void Operation::UseResult(absl::FunctionRef<void()> use) {
  std::lock_guard<std::mutex> lock(result_mutex_);
  if (has_result_) use();
}

// ---- callbacks ----

void CallbackThread::Post(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // Once stopping, only a running callback may still post, so the thread is there.
    BANYAN_CHECK(!stopping_ || running_);
    waiting_.push_back(std::move(callback));
    if (!std::exchange(started_, true)) thread_ = std::thread([this] { Work(); });
  }
  changed_.notify_one();
}

void CallbackThread::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CallbackThread::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> callback = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = true;
    lock.unlock();
    callback();
    callback = nullptr;  // what it holds goes without the lock
    lock.lock();
    running_ = false;
  }
}

// ---- for whom they wait ----

void WaitAsker::Serve(const std::shared_ptr<WaitAsker>& asker, const std::shared_ptr<Operation>& operation,
                      std::string key) {
  operation->AskBeforeTimeout(
      [asker, weak = std::weak_ptr<Operation>(operation), key = std::move(key)] { asker->AskFor(weak, key); });
}

void WaitAsker::AskFor(const std::weak_ptr<Operation>& operation, const std::string& key) {
  const std::shared_ptr<Operation> asking = operation.lock();
  if (asking == nullptr) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!ask_) return;
  ask_(key, asking->round(), [operation](const absl::Status& answer) {
    const std::shared_ptr<Operation> waiting = operation.lock();
    if (waiting != nullptr && absl::IsDeadlineExceeded(answer)) waiting->SetWait(std::string(answer.message()));
  });
}

void WaitAsker::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  ask_ = nullptr;
}

// ---- making them ----

std::shared_ptr<Operation> OperationMaker::Make(absl::string_view what, TensorView result, Operation::Callback on_done,
                                                const std::string& key) const {
  // A forked child has no thread for callbacks.
  Operation::Callback post = on_done;
  if (on_done && process_.IsHere()) {
    post = [callbacks = callbacks_, on_done = std::move(on_done)](const absl::Status& status) {
      callbacks->Post([on_done, status] { on_done(status); });
    };
  }
  const auto operation =
      std::make_shared<Operation>(absl::StrCat("node ", node_name_, ", ", what), result, std::move(post));
  WaitAsker::Serve(asker_, operation, key);
  return operation;
}

std::shared_ptr<Operation> OperationMaker::MakeForKey(absl::string_view key, TensorView result,
                                                      Operation::Callback on_done) const {
  return Make(absl::StrCat("key ", key), result, std::move(on_done), std::string(key));
}

}  // namespace banyan
