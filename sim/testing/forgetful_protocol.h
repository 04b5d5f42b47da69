// Stands around a scheduler's core and tells it that records are durable which nobody keeps: a storage that forgets
// what it has promised, for tests of the checkers. Thread-compatible; owns the core.
#ifndef BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_
#define BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "protocol/protocol.h"

namespace banyan {

class ForgetfulProtocol : public Protocol {
 public:
  // Asked of each record's bytes, in order.
  using IsKept = std::function<bool(const std::string& record)>;

  ForgetfulProtocol(std::unique_ptr<Protocol> core, IsKept is_kept)
      : core_(std::move(core)), is_kept_(std::move(is_kept)) {}

  Actions Step(Timestamp now, Event event) override {
    Actions actions;
    Collect(core_->Step(now, std::move(event)), now, &actions);
    return actions;
  }
  Timestamp NextDeadline() const override { return core_->NextDeadline(); }

 private:
  void Collect(Actions made, Timestamp now, Actions* actions) {
    for (Action& action : made) {
      const auto* record = std::get_if<PersistRecord>(&action);
      if (record == nullptr || is_kept_(record->bytes)) {
        actions->push_back(std::move(action));
        continue;
      }
      Collect(core_->Step(now, RecordPersisted{record->record}), now, actions);
    }
  }

  const std::unique_ptr<Protocol> core_;
  const IsKept is_kept_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_
