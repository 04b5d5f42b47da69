#include "tools/page/order_queue.h"

#include <utility>

#include "absl/status/status.h"

namespace banyan {

absl::Status NoReply() {
  return absl::CancelledError("the scheduler ends before it has answered; it may still have taken the order");
}

void OrderQueue::Give(PageOrder order) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_closed_) {
    lock.unlock();
    return order.reply(absl::CancelledError("the scheduler ends and takes no order"));
  }
  orders_.push_back(std::move(order));
  lock.unlock();
  wake_();
}

std::vector<PageOrder> OrderQueue::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(orders_, {});
}

bool OrderQueue::has_orders() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !orders_.empty();
}

void OrderQueue::Close() {
  std::vector<PageOrder> orders;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
    orders.swap(orders_);
  }
  for (const PageOrder& order : orders) order.reply(NoReply());
}

void OrderQueue::SetOverlay(std::string yaml) {
  const std::lock_guard<std::mutex> lock(mutex_);
  overlay_ = std::move(yaml);
}

std::string OrderQueue::overlay() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return overlay_;
}

}  // namespace banyan
