// What the parts of NodeCore share during one Step: the time, where actions go, and where rejections are counted.
// A view for the duration of the call; thread-compatible.
#ifndef BANYAN_NODE_STEP_CONTEXT_H_
#define BANYAN_NODE_STEP_CONTEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/time.h"
#include "protocol/action.h"
#include "protocol/event.h"

namespace banyan {

// Counts what peers sent and this node refused, and logs it without letting a flood fill the log: the first, second,
// fourth, eighth ... rejection of each kind. Thread-compatible; owned by NodeCore.
class RejectionLog {
 public:
  // `kind` is a fixed text of the caller's, such as "chunk of another epoch"; `detail` says what came and from where.
  void Reject(absl::string_view kind, absl::string_view detail, Actions& actions);

  // Returns the kind of what the transport refused: there is no room for it, it comes of nobody who is known, or says
  // nothing that is.
  static absl::string_view KindOf(const MessageRejected& rejected) {
    if (absl::IsResourceExhausted(rejected.reason)) return "connections";
    return rejected.connection == ConnectionId() ? "stranger" : "frame that does not decode";
  }

  uint64_t total() const { return total_; }

 private:
  std::map<std::string, uint64_t> counts_;  // by kind
  uint64_t total_ = 0;
};

struct StepContext {
  Timestamp now;
  Actions& actions;
  RejectionLog& rejections;

  void SendTo(ConnectionId connection, Message message) {
    actions.emplace_back(std::in_place_type<Send>, Send{connection, std::move(message), {}});
  }
  void Log(LogLevel level, std::string text) {
    actions.emplace_back(std::in_place_type<LogLine>, LogLine{level, std::move(text)});
  }
};

}  // namespace banyan

#endif  // BANYAN_NODE_STEP_CONTEXT_H_
