// A protocol core for tests, made of one function per kind of event that the test wants to see. Thread-compatible; what
// its functions touch is the protocol thread's until the host has stopped.
#ifndef BANYAN_RUNTIME_TESTING_TESTING_PROTOCOL_H_
#define BANYAN_RUNTIME_TESTING_TESTING_PROTOCOL_H_

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/time.h"
#include "protocol/action.h"
#include "protocol/event.h"
#include "protocol/protocol.h"

namespace banyan {

// Stops when it is asked to, and does nothing else of its own.
class TestingProtocol : public Protocol {
 public:
  Actions Step(Timestamp now, Event event) override {
    Actions actions;
    std::visit([&](auto& happened) { On(now, happened, actions); }, event);
    return actions;
  }
  Timestamp NextDeadline() const override { return deadline; }

  std::function<void(Timestamp, Actions&)> on_started;
  std::function<void(MessageReceived&, Actions&)> on_message;
  std::function<void(MessageRejected&, Actions&)> on_rejected;
  std::function<void(ConnectionId, Actions&)> on_up;
  std::function<void(ConnectionId, Actions&)> on_down;
  std::function<void(Timestamp, Actions&)> on_deadline;
  std::function<void(WorkerCall&, Actions&)> on_call;
  std::function<void(StateCall&, Actions&)> on_state_call;
  std::function<void(ComputationFinished&, Actions&)> on_computed;
  std::function<void(RecordId, Actions&)> on_persisted;
  std::function<void(Actions&)> on_stop = [](Actions& actions) { Add(actions, Stop{absl::OkStatus()}); };
  Timestamp deadline = kNever;

  template <typename Kind>
  static void Add(Actions& actions, Kind action) {
    actions.emplace_back(std::in_place_type<Kind>, std::move(action));
  }

 private:
  void On(Timestamp now, Started&, Actions& actions) {
    if (on_started) on_started(now, actions);
  }
  void On(Timestamp, MessageReceived& received, Actions& actions) {
    if (on_message) on_message(received, actions);
  }
  void On(Timestamp, MessageRejected& rejected, Actions& actions) {
    if (on_rejected) on_rejected(rejected, actions);
  }
  void On(Timestamp, ConnectionUp& up, Actions& actions) {
    if (on_up) on_up(up.connection, actions);
  }
  void On(Timestamp, ConnectionDown& down, Actions& actions) {
    if (on_down) on_down(down.connection, actions);
  }
  void On(Timestamp, ConnectFailed&, Actions&) {}
  void On(Timestamp, ConnectionAccepted&, Actions&) {}
  void On(Timestamp, PacketsOvertook&, Actions&) {}
  void On(Timestamp now, DeadlineReached&, Actions& actions) {
    if (on_deadline) on_deadline(now, actions);
  }
  void On(Timestamp, WorkerCalled& called, Actions& actions) {
    if (on_call) on_call(called.call, actions);
  }
  void On(Timestamp, StateCalled& called, Actions& actions) {
    if (on_state_call) on_state_call(called.call, actions);
  }
  void On(Timestamp, ComputationFinished& finished, Actions& actions) {
    if (on_computed) on_computed(finished, actions);
  }
  void On(Timestamp, RecordPersisted& persisted, Actions& actions) {
    if (on_persisted) on_persisted(persisted.record, actions);
  }
  void On(Timestamp, StopRequested&, Actions& actions) { on_stop(actions); }
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_TESTING_PROTOCOL_H_
