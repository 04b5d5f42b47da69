#include "node/peers/control_connection.h"

#include <optional>
#include <utility>

#include "node/step_context.h"

namespace banyan {

ControlConnection::ControlConnection(ConnectionId id, std::string neighbour_name, size_t waiting_limit)
    : id_(id), neighbour_name_(std::move(neighbour_name)), waiting_limit_(waiting_limit) {}

void ControlConnection::OnUp(StepContext& step) {
  is_up_ = true;
  while (!waiting_.empty()) {
    step.SendTo(id_, std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void ControlConnection::Send(StepContext& step, Message message) {
  if (std::optional<LinkAck> acks = acks_.Take()) Transmit(step, *std::move(acks));
  Transmit(step, std::move(message));
}

void ControlConnection::Acknowledge(StepContext& step, const LinkAck::Entry& receipt, bool may_wait) {
  if (std::optional<LinkAck> acks = acks_.Add(receipt, may_wait, step.now)) Transmit(step, *std::move(acks));
}

void ControlConnection::SendDueAcks(StepContext& step) {
  if (acks_.deadline() > step.now) return;
  if (std::optional<LinkAck> acks = acks_.Take()) Transmit(step, *std::move(acks));
}

void ControlConnection::Transmit(StepContext& step, Message message) {
  if (is_up_) return step.SendTo(id_, std::move(message));
  if (waiting_.size() < waiting_limit_) return waiting_.push_back(std::move(message));
  step.rejections.Reject("answer dropped, too many wait for the connection", neighbour_name_, step.actions);
}

}  // namespace banyan
