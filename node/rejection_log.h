// Counts what peers sent and this node refused, and logs it without letting a flood fill the log: the first, second,
// fourth, eighth ... rejection of each kind. Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_REJECTION_LOG_H_
#define BANYAN_NODE_REJECTION_LOG_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "protocol/action.h"
#include "protocol/event.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_NODE_REJECTION_LOG_H_
