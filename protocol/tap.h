// Stands around a core: sees what goes in and comes out, and may change it, tell the core something more, or ask it as
// another process on a connection of its own would. All else passes through. Thread-compatible; owned by the driver of
// the core.
//
// Invariants:
// - The core gets only deadlines of its own, and nothing after it has stopped.
#ifndef BANYAN_PROTOCOL_TAP_H_
#define BANYAN_PROTOCOL_TAP_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/protocol.h"

namespace banyan {

// Connections of a Tap are above this one, which is far above those that drivers choose.
inline constexpr ConnectionId kTapConnection = ConnectionId(uint64_t{3} << 62);

class Tap : public Protocol {
 public:
  explicit Tap(std::unique_ptr<Protocol> core) : core_(std::move(core)) {}

  Actions Step(Timestamp now, Event event) final;
  Timestamp NextDeadline() const final;

 protected:
  // Gets what the core sends back first; nothing when it closes the connection instead.
  using Reply = std::function<void(std::optional<Message> reply)>;

  // Sees an event before the core does.
  virtual void OnEvent(Event& /*event*/) {}
  // Sees an action, unless it answers this object; returns whether the driver is to get it.
  virtual bool OnAction(Action& /*action*/) { return true; }
  // Returns when this object wants its turn, which comes after the core's.
  virtual Timestamp NextTurn() const { return kNever; }
  virtual void OnTurn() {}

  // The rest is for use within a Step.
  Timestamp now() const { return now_; }
  void Tell(Event event);
  void Ask(Message question, Reply reply);
  void Do(Action action) { actions_.push_back(std::move(action)); }
  // Gives nothing to those that are still asking; for the end of whoever has asked.
  void EndQuestions();

 private:
  // Returns whether the action answers this object.
  bool Answers(Action& action);

  const std::unique_ptr<Protocol> core_;
  Timestamp now_;
  Actions actions_;  // of this step, for the driver
  bool has_stopped_ = false;
  ConnectionId last_question_ = kTapConnection;
  std::map<ConnectionId, Reply> questions_;  // without an answer
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_TAP_H_
