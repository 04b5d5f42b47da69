// What the parts of NodeCore share during one Step: the time, where actions go, and where rejections are counted.
// A view for the duration of the call; thread-compatible.
#ifndef BANYAN_NODE_STEP_CONTEXT_H_
#define BANYAN_NODE_STEP_CONTEXT_H_

#include <string>
#include <utility>

#include "core/time.h"
#include "protocol/action.h"

namespace banyan {

class RejectionLog;

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
