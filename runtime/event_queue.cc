#include "runtime/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/check.h"

namespace banyan {

EventQueue::EventQueue() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { BANYAN_CHECK(fd_ >= 0); }

EventQueue::~EventQueue() { close(fd_); }

void EventQueue::Post(Event event) {
  bool is_awaited = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.emplace_back(std::move(event));
    is_awaited = std::exchange(is_awaited_, false);
  }
  if (is_awaited) Wake();
}

bool EventQueue::MayWait() {
  std::lock_guard<std::mutex> lock(mutex_);
  is_awaited_ = events_.empty();
  return is_awaited_;
}

void EventQueue::Fail(absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_.Update(status);
  }
  Wake();
}

void EventQueue::RequestStop() {
  stop_requested_.store(true);
  Wake();
}

void EventQueue::ClearWakeup() {
  uint64_t count = 0;
  // Fails only when there was nothing to clear.
  (void)!read(fd_, &count, sizeof(count));
}

std::vector<Event> EventQueue::Take() {
  std::vector<Event> events;
  std::lock_guard<std::mutex> lock(mutex_);
  is_awaited_ = false;
  events.swap(events_);
  return events;
}

absl::Status EventQueue::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void EventQueue::Wake() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the reader wakes anyway.
  (void)!write(fd_, &one, sizeof(one));
}

}  // namespace banyan
