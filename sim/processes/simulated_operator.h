// Whoever changes a running job with `banyan reconfigure` or looks into it with `banyan trace`, in simulated time: asks
// the scheduler at given times, again after each loss of the connection until it is answered. Thread-compatible; owned
// by the process it runs in.
#ifndef BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_
#define BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "protocol/protocol.h"

namespace banyan {

struct OperatorOrder {
  absl::Duration at;  // after the start of the operator's process
  std::string overlay_yaml;
  uint32_t traced_rounds = 0;  // above 0: traces so many, instead of reconfiguring
};

class SimulatedOperator : public Protocol {
 public:
  // `orders` in order of time.
  SimulatedOperator(std::string scheduler_address, std::vector<OperatorOrder> orders)
      : scheduler_address_(std::move(scheduler_address)), orders_(std::move(orders)) {}

  Actions Step(Timestamp now, Event event) override {
    Actions actions;
    if (std::holds_alternative<Started>(event)) {
      started_ = now;
      actions.emplace_back(Connect{kConnection, scheduler_address_, Channel::kControl});
    } else if (std::holds_alternative<ConnectionUp>(event)) {
      connected_ = true;
      waits_ = false;
    } else if (std::holds_alternative<ConnectionDown>(event)) {
      connected_ = false;
    } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
      TakeReply(received->message);
    } else if (std::holds_alternative<StopRequested>(event)) {
      actions.emplace_back(Stop{});
    }
    if (NextDeadline() <= now) {
      waits_ = true;
      actions.emplace_back(Send{kConnection, MessageOf(orders_[replies_.size()]), {}});
    }
    return actions;
  }
  Timestamp NextDeadline() const override {
    return connected_ && !waits_ && replies_.size() < orders_.size() ? started_ + orders_[replies_.size()].at : kNever;
  }

  // What came for orders to trace.
  const std::vector<TracePiece>& pieces() const { return pieces_; }
  const std::vector<TraceEnd>& trace_ends() const { return trace_ends_; }
  // One for each order so far.
  const std::vector<OperatorReply>& replies() const { return replies_; }

 private:
  static constexpr ConnectionId kConnection = ConnectionId(1);

  static Message MessageOf(const OperatorOrder& order) {
    if (order.traced_rounds > 0) return TraceRounds{order.traced_rounds};
    return Reconfigure{order.overlay_yaml, "operator.yaml"};
  }

  void TakeReply(const Message& message) {
    if (!waits_) return;
    if (const auto* piece = std::get_if<TracePiece>(&message)) pieces_.push_back(*piece);
    if (const auto* end = std::get_if<TraceEnd>(&message)) {
      trace_ends_.push_back(*end);
      TakeReply(OperatorReply{true, "traced"});
    }
    const auto* reply = std::get_if<OperatorReply>(&message);
    if (reply == nullptr) return;
    replies_.push_back(*reply);
    waits_ = false;
  }

  const std::string scheduler_address_;
  const std::vector<OperatorOrder> orders_;
  Timestamp started_;
  bool connected_ = false;
  bool waits_ = false;  // for the reply to what it has sent on this connection
  std::vector<OperatorReply> replies_;
  std::vector<TracePiece> pieces_;
  std::vector<TraceEnd> trace_ends_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_
