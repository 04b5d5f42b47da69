// A core for tests of the drivers: keeps what it was handed and answers with what the test's function makes of it.
// Thread-compatible; owned by the process it runs in.
#ifndef BANYAN_SIM_TESTING_SCRIPTED_PROTOCOL_H_
#define BANYAN_SIM_TESTING_SCRIPTED_PROTOCOL_H_

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/protocol.h"

namespace banyan {

class ScriptedProtocol : public Protocol {
 public:
  struct Seen {
    Timestamp now;
    Event event;
  };
  using Script = std::function<void(Timestamp now, const Event& event, Actions* actions)>;

  explicit ScriptedProtocol(Script script) : script_(std::move(script)) {}

  Actions Step(Timestamp now, Event event) override {
    Actions actions;
    if (script_) script_(now, event, &actions);
    seen_.push_back({now, std::move(event)});
    return actions;
  }
  Timestamp NextDeadline() const override { return deadline_; }
  void set_deadline(Timestamp deadline) { deadline_ = deadline; }

  const std::vector<Seen>& seen() const { return seen_; }
  // The times at which events of one kind came.
  template <typename T>
  std::vector<Timestamp> TimesOf() const {
    std::vector<Timestamp> times;
    for (const Seen& seen : seen_) {
      if (std::holds_alternative<T>(seen.event)) times.push_back(seen.now);
    }
    return times;
  }

 private:
  Script script_;
  Timestamp deadline_ = kNever;
  std::vector<Seen> seen_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_SCRIPTED_PROTOCOL_H_
