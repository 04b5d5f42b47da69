// Stands around a core and changes what goes in or comes out: a core that breaks a rule on purpose, for tests of the
// checkers. Thread-compatible; owns the core.
#ifndef BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_
#define BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_

#include <functional>
#include <memory>
#include <utility>

#include "protocol/protocol.h"

namespace banyan {

class TamperingProtocol : public Protocol {
 public:
  struct Tampering {
    // Either may be empty. `on_action` returns false to drop the action.
    std::function<void(Event*)> on_event;
    std::function<bool(Action*)> on_action;
    // A second event right after this one; nothing for most.
    std::function<bool(const Event&, Event* second)> repeat;
  };

  TamperingProtocol(std::unique_ptr<Protocol> core, Tampering tampering)
      : core_(std::move(core)), tampering_(std::move(tampering)) {}

  Actions Step(Timestamp now, Event event) override {
    if (tampering_.on_event) tampering_.on_event(&event);
    Event second;
    const bool again = tampering_.repeat && tampering_.repeat(event, &second);
    Actions actions = core_->Step(now, std::move(event));
    if (again) {
      for (Action& action : core_->Step(now, std::move(second))) actions.push_back(std::move(action));
    }
    if (tampering_.on_action) {
      std::erase_if(actions, [this](Action& action) { return !tampering_.on_action(&action); });
    }
    return actions;
  }
  Timestamp NextDeadline() const override { return core_->NextDeadline(); }

 private:
  std::unique_ptr<Protocol> core_;
  Tampering tampering_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_TAMPERING_PROTOCOL_H_
