// Answers ZeroMQ when it asks who may come in (ZAP, rfc.zeromq.org/spec/27), before a byte of ours is read. One for all
// listening sockets of a context. Thread-compatible; used by the protocol thread only.
//
// Invariants:
// - Each question gets one answer, and what is malformed a refusal.
#ifndef BANYAN_RUNTIME_TRANSPORT_ZAP_HANDLER_H_
#define BANYAN_RUNTIME_TRANSPORT_ZAP_HANDLER_H_

#include <functional>
#include <string>
#include <vector>

#include "runtime/transport/polled_socket.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_poller.h"

namespace banyan {

class ZapHandler {
 public:
  // Says whether the owner of a public key, as text, may come in.
  using Admits = std::function<bool(const std::string& public_key)>;

  // Listens before any socket asks. `poller` outlives this. Throws zmq::error_t when its context has a handler already,
  // or the process no socket left.
  ZapHandler(SocketPoller& poller, Admits admits);

  // Answers at most `most` questions. Returns, in words, who was refused.
  std::vector<std::string> Serve(int most);

 private:
  // Returns the answer, and appends to `refused` whom it refuses.
  std::vector<zmq::message_t> Answer(const ReceivedFrames& question, std::vector<std::string>& refused) const;

  PolledSocket socket_;
  const Admits admits_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_ZAP_HANDLER_H_
