// Whoever changes a running job with `banyan reconfigure` or `banyan remove`, ends it with `banyan stop`, or looks into
// it with `banyan trace`, in simulated time: asks the scheduler that answers at given times, again after each loss of
// the connection, and after a while without an answer, until there is one. Thread-compatible; owned by the process it
// runs in.
#ifndef BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_
#define BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "protocol/protocol.h"

namespace banyan {

struct OperatorOrder {
  absl::Duration at;  // after the start of the operator's process
  std::string overlay_yaml;
  uint32_t traced_rounds = 0;  // above 0: traces so many, instead of reconfiguring
  std::string removed = {};    // the node that is removed instead; empty for none
  bool is_repeated = false;    // after each refusal, until it is accepted or no job runs
  bool stops = false;          // the job, instead
};

class SimulatedOperator : public Protocol {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The order leaves for the scheduler, perhaps again.
    virtual void OnOrdered(const OperatorOrder& /*order*/) {}
    virtual void OnAnswered(const OperatorOrder& /*order*/, const OperatorReply& /*reply*/) {}
  };

  // `orders` in order of time. `listener` outlives this; nullptr for none.
  SimulatedOperator(std::vector<std::string> scheduler_addresses, std::vector<OperatorOrder> orders,
                    Listener* listener = nullptr)
      : scheduler_addresses_(std::move(scheduler_addresses)), orders_(std::move(orders)), listener_(listener) {}

  Actions Step(Timestamp now, Event event) override {
    Actions actions;
    if (std::holds_alternative<Started>(event)) {
      started_ = now;
      for (uint64_t i = 0; i < scheduler_addresses_.size(); ++i) {
        actions.emplace_back(Connect{ConnectionId(i + 1), scheduler_addresses_[i], Channel::kControl});
      }
    } else if (const auto* up = std::get_if<ConnectionUp>(&event)) {
      connected_.insert(up->connection);
      if (waits_on_ == up->connection) waits_on_.reset();
    } else if (const auto* down = std::get_if<ConnectionDown>(&event)) {
      connected_.erase(down->connection);
      if (waits_on_ == down->connection) waits_on_.reset();
    } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
      TakeReply(now, received->message);
    } else if (std::holds_alternative<StopRequested>(event)) {
      actions.emplace_back(Stop{});
    }
    if (NextDeadline() > now) return actions;
    if (waits_on_.has_value()) {
      // Nobody may be there any more.
      actions.emplace_back(Renew{*waits_on_});
      connected_.erase(*std::exchange(waits_on_, std::nullopt));
    } else {
      const OperatorOrder& order = orders_[replies_.size()];
      waits_on_ = *connected_.begin();
      ordered_ = now;
      if (listener_ != nullptr) listener_->OnOrdered(order);
      actions.emplace_back(Send{*waits_on_, MessageOf(order), {}});
    }
    return actions;
  }
  Timestamp NextDeadline() const override {
    if (replies_.size() == orders_.size()) return kNever;
    if (waits_on_.has_value()) return traces() ? kNever : ordered_ + kAnswerTimeout;
    return connected_.empty() ? kNever : std::max(not_before_, started_ + orders_[replies_.size()].at);
  }

  // What came for orders to trace.
  const std::vector<TracePiece>& pieces() const { return pieces_; }
  const std::vector<TraceEnd>& trace_ends() const { return trace_ends_; }
  // One for each order so far.
  const std::vector<OperatorReply>& replies() const { return replies_; }

 private:
  static constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);
  static constexpr absl::Duration kRepeatPause = absl::Seconds(1);

  bool traces() const { return orders_[replies_.size()].traced_rounds > 0; }
  static Message MessageOf(const OperatorOrder& order) {
    if (order.traced_rounds > 0) return TraceRounds{order.traced_rounds};
    if (!order.removed.empty()) return RemoveNode{order.removed};
    if (order.stops) return StopJob{"enough"};
    return Reconfigure{order.overlay_yaml, "operator.yaml"};
  }

  void TakeReply(Timestamp now, const Message& message) {
    if (!waits_on_.has_value()) return;
    if (const auto* piece = std::get_if<TracePiece>(&message)) pieces_.push_back(*piece);
    if (const auto* end = std::get_if<TraceEnd>(&message)) {
      trace_ends_.push_back(*end);
      TakeReply(now, OperatorReply{true, "traced"});
    }
    const auto* reply = std::get_if<OperatorReply>(&message);
    if (reply == nullptr) return;
    const OperatorOrder& order = orders_[replies_.size()];
    waits_on_.reset();
    if (listener_ != nullptr) listener_->OnAnswered(order, *reply);
    const bool is_over = absl::StrContains(reply->text, "no running job");
    if (order.is_repeated && !reply->accepted && !is_over) {
      not_before_ = now + kRepeatPause;
    } else {
      replies_.push_back(*reply);
    }
  }

  const std::vector<std::string> scheduler_addresses_;
  const std::vector<OperatorOrder> orders_;
  Listener* const listener_;
  Timestamp started_;
  Timestamp ordered_;
  Timestamp not_before_;
  std::set<ConnectionId> connected_;
  std::optional<ConnectionId> waits_on_;  // for the reply to what it has sent there
  std::vector<OperatorReply> replies_;
  std::vector<TracePiece> pieces_;
  std::vector<TraceEnd> trace_ends_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_OPERATOR_H_
