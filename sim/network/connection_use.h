// What may travel over which connection: chunks and control messages apart, a greeting first between nodes, and answers
// on connections of their own. Pure function.
#ifndef BANYAN_SIM_NETWORK_CONNECTION_USE_H_
#define BANYAN_SIM_NETWORK_CONNECTION_USE_H_

#include <vector>

#include "proto/message.h"
#include "protocol/action.h"

namespace banyan {

struct ConnectionUse {
  Channel channel = Channel::kControl;
  bool with_scheduler = false;  // one end is the scheduler
  bool by_opener = true;
  bool was_used = false;  // in this direction, since the connection was made
};

// Returns what is wrong with sending `message` so; empty when nothing is.
inline std::vector<const char*> WrongUses(const ConnectionUse& use, const Message& message) {
  std::vector<const char*> wrong;
  const bool is_hello = std::holds_alternative<PeerHello>(message);
  const bool is_chunk = std::holds_alternative<ChunkMessage>(message);
  if (!is_hello && is_chunk != (use.channel == Channel::kData)) {
    wrong.push_back(is_chunk ? "chunk on a control connection" : "control message on a data connection");
  }
  if (use.with_scheduler) return wrong;
  if (!use.by_opener) wrong.push_back("sent on a connection that the other node opened");
  if (use.by_opener && is_hello == use.was_used) {
    wrong.push_back(is_hello ? "hello after the first message" : "first message is no hello");
  }
  return wrong;
}

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_CONNECTION_USE_H_
