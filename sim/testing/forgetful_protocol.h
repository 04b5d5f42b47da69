// Stands around a scheduler's core and tells it that records are durable which nobody keeps: a storage that forgets
// what it has promised, for tests of the checkers. Thread-compatible; owns the core.
#ifndef BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_
#define BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "protocol/tap.h"

namespace banyan {

class ForgetfulProtocol : public Tap {
 public:
  // Asked of each record's bytes, in order.
  using IsKept = std::function<bool(const std::string& record)>;

  ForgetfulProtocol(std::unique_ptr<Protocol> core, IsKept is_kept)
      : Tap(std::move(core)), is_kept_(std::move(is_kept)) {}

 private:
  bool OnAction(Action& action) override {
    const auto* record = std::get_if<PersistRecord>(&action);
    if (record == nullptr || is_kept_(record->bytes)) return true;
    Tell(RecordPersisted{record->record});
    return false;
  }

  const IsKept is_kept_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_FORGETFUL_PROTOCOL_H_
