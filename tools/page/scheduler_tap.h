// What a scheduler's own process asks of its core and gives it: its status, as a client would ask, and the orders of a
// requests, each as an operator's command. So orders of the page are checked, logged and answered as those of `banyan
// reconfigure`, `remove` and `stop`. Thread-compatible; owned by its driver.
// Invariants:
// - Every order that was picked up is answered, at the latest when this ends or the core closes its connection.
#ifndef BANYAN_TOOLS_PAGE_SCHEDULER_TAP_H_
#define BANYAN_TOOLS_PAGE_SCHEDULER_TAP_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/ids.h"
#include "proto/status.h"
#include "protocol/tap.h"
#include "tools/page/order_queue.h"

namespace banyan {

class SchedulerTap : public Tap {
 public:
  // Functions are called on the driver's thread.
  struct Options {
    // Closed at the end; nullptr for none. The driver is to step this soon after an order was laid down.
    std::shared_ptr<OrderQueue> requests = nullptr;
    // Gets the status every second, or every second for each 3,000 nodes, links and keys that it has, which are a
    // megabyte of JSON. Empty: it is not asked for.
    std::function<void(Timestamp now, JobStatus status)> take_status = nullptr;
    // Gets all that the core sends to others; may be empty.
    std::function<void(const Message& message)> on_sent = nullptr;
  };

  SchedulerTap(std::unique_ptr<Protocol> core, Options options);
  ~SchedulerTap() override;

 private:
  void OnEvent(Event& event) override;
  bool OnAction(Action& action) override;
  Timestamp NextTurn() const override;
  void OnTurn() override;

  void AskForStatus();
  void Give(PageOrder order);

  const Options options_;
  Timestamp next_status_ = kNever;
  bool is_ending_ = false;
  std::map<ConnectionId, std::string> overlays_;  // that others want and that are not answered yet
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_SCHEDULER_TAP_H_
