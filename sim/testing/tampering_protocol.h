// Stands around a core and changes what goes in or comes out: a core that breaks a rule on purpose, for tests of the
// checkers. Thread-compatible; owns the core.
#ifndef BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_
#define BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_

#include <functional>
#include <memory>
#include <utility>

#include "protocol/tap.h"

namespace banyan {

class TamperingProtocol : public Tap {
 public:
  struct Tampering {
    // Either may be empty. `on_action` returns false to drop the action.
    std::function<void(Event*)> on_event;
    std::function<bool(Action*)> on_action;
    // A second event right after this one; nothing for most.
    std::function<bool(const Event&, Event* second)> repeat;
  };

  TamperingProtocol(std::unique_ptr<Protocol> core, Tampering tampering)
      : Tap(std::move(core)), tampering_(std::move(tampering)) {}

 private:
  void OnEvent(Event& event) override {
    if (tampering_.on_event) tampering_.on_event(&event);
    has_second_ = tampering_.repeat && tampering_.repeat(event, &second_);
  }
  bool OnAction(Action& action) override { return !tampering_.on_action || tampering_.on_action(&action); }
  Timestamp NextTurn() const override { return has_second_ ? Timestamp() : kNever; }
  void OnTurn() override {
    has_second_ = false;
    Tell(std::exchange(second_, Event()));
  }

  Tampering tampering_;
  Event second_;
  bool has_second_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_
