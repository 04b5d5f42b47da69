// Stands around a scheduler's core and hands it the orders of a desk, each as an operator's command on a connection of
// its own would; everything else passes through. So orders of the page are checked, logged and answered as those of
// `banyan reconfigure`, `remove` and `stop`. Thread-compatible; owned by its driver.
// Invariants:
// - Every order that was picked up is answered, at the latest when this ends or the core closes its connection.
#ifndef BANYAN_TOOLS_PAGE_COMMANDED_SCHEDULER_H_
#define BANYAN_TOOLS_PAGE_COMMANDED_SCHEDULER_H_

#include <map>
#include <memory>
#include <string>

#include "core/ids.h"
#include "protocol/protocol.h"
#include "tools/page/order_desk.h"

namespace banyan {

class CommandedScheduler : public Protocol {
 public:
  // Closes the desk at its end.
  CommandedScheduler(std::unique_ptr<Protocol> core, std::shared_ptr<OrderDesk> desk);
  ~CommandedScheduler() override;

  // The driver is to step it soon after an order was laid down.
  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override;

 private:
  void StepCore(Timestamp now, Event event, Actions& actions);
  void Give(Timestamp now, PageOrder order, Actions& actions);
  // Takes what is for this class out of what the core does, and adds the rest.
  void PassOn(Action action, Actions& actions);
  void End(ConnectionId connection, absl::StatusOr<OperatorReply> reply, Actions& actions);
  // Learns which overlay the job runs under from the orders and answers of whoever gives them.
  void NoteOrder(ConnectionId connection, const Message& message);
  void NoteReply(ConnectionId connection, const OperatorReply& reply);

  const std::unique_ptr<Protocol> core_;
  const std::shared_ptr<OrderDesk> desk_;
  ConnectionId last_connection_;
  std::map<ConnectionId, PageOrder> open_;        // orders without an answer
  std::map<ConnectionId, std::string> overlays_;  // that somebody wants and that are not answered yet
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_COMMANDED_SCHEDULER_H_
