#include "runtime/c_api/completion_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "absl/status/status.h"

namespace banyan {
namespace {

// In a form that clocks can add to the time.
constexpr absl::Duration kForever = absl::Hours(24 * 365);

}  // namespace

CompletionQueue::CompletionQueue() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CompletionQueue::~CompletionQueue() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CompletionQueue::Add(End end) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_.push_back(end);
    if (ends_.size() == 1) (void)eventfd_write(descriptor_, 1);
  }
  changed_.notify_one();
}

void CompletionQueue::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    // Who polls shall hear of it too.
    (void)eventfd_write(descriptor_, 1);
  }
  changed_.notify_all();
}

absl::StatusOr<std::vector<CompletionQueue::End>> CompletionQueue::Take(size_t capacity, absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  const absl::Duration bounded = std::clamp(timeout, absl::ZeroDuration(), kForever);
  const auto is_over = [this] { return closed_ || !ends_.empty(); };
  if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(bounded), is_over)) {
    return absl::DeadlineExceededError("no operation with a tag has ended meanwhile");
  }
  if (ends_.empty()) return absl::CancelledError("the session is closed, and all ends have been told");
  const size_t count = std::min(capacity, ends_.size());
  std::vector<End> taken(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(count));
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(count));
  eventfd_t told = 0;
  if (ends_.empty() && !closed_) (void)eventfd_read(descriptor_, &told);
  return taken;
}

}  // namespace banyan
