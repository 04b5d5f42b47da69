// Where operators on the job's page lay down orders, and the scheduler's driver picks them up. Thread-safe.
// Invariants:
// - Each order is answered once: by the scheduler, or by CANCELLED when the requests closes, which is for ever.
#ifndef BANYAN_TOOLS_PAGE_ORDER_QUEUE_H_
#define BANYAN_TOOLS_PAGE_ORDER_QUEUE_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/message.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// An operator's order, as a command of theirs would send it, and who gets the answer, on any thread.
struct PageOrder {
  std::string operator_name;
  Message message;
  std::function<void(absl::StatusOr<OperatorReply> reply)> reply;
};

class OrderQueue {
 public:
  // `wake` is called after each order, on the thread that gives it.
  explicit OrderQueue(std::function<void()> wake) : wake_(std::move(wake)) {}
  OrderQueue(const OrderQueue&) = delete;
  OrderQueue& operator=(const OrderQueue&) = delete;

  // Lays down an order; CANCELLED for its sender when the requests is closed.
  void Give(PageOrder order);
  // Picks up what was laid down since the last call, in order.
  std::vector<PageOrder> Take();
  bool has_orders() const;
  void Close();

  // The text of the overlay under which the job runs, which an operator edits.
  void SetOverlay(std::string yaml);
  std::string overlay() const;

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<PageOrder> orders_;  // guarded by mutex_
  bool is_closed_ = false;         // guarded by mutex_
  std::string overlay_;            // guarded by mutex_
};

// What is answered to an order that the scheduler has not answered.
absl::Status NoReply();

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_ORDER_QUEUE_H_
