// What makes a process's connections safe: its own keys, those that it trusts, and who may come in and say what. It
// answers ZeroMQ when that asks who may come in (ZAP, rfc.zeromq.org/spec/27), before a byte of ours is read: one for
// all listening sockets of a context. Thread-compatible; used by the protocol thread only.
//
// Invariants:
// - Each question of ZeroMQ gets one answer, and what is malformed a refusal.
// - A listening socket that MakeServer has prepared lets in listed keys alone, nobody before Admit. Only one that
//   MakeForDataPort has prepared lets in those without a key.
// - A connection that MakeClient has prepared comes about with the owner of the key alone.
#ifndef BANYAN_RUNTIME_TRANSPORT_CONNECTION_SECURITY_H_
#define BANYAN_RUNTIME_TRANSPORT_CONNECTION_SECURITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "access/access_table.h"
#include "access/key_file.h"
#include "proto/access_list.h"
#include "proto/message.h"
#include "runtime/transport/polled_socket.h"
#include "runtime/transport/security_options.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_poller.h"
#include "zmq.hpp"

namespace banyan {

class ConnectionSecurity {
 public:
  // Listens to ZeroMQ before any socket asks. `poller` outlives this, and the sockets end before this does. Throws
  // zmq::error_t when the context has such a handler already, or the process no socket left.
  ConnectionSecurity(SocketPoller& poller, SecurityOptions options);

  // Takes the place of all who may come in so far.
  void Admit(std::vector<ListedKey> keys) { table_.Replace(std::move(keys)); }
  const AccessTable& table() const { return table_; }
  // Returns which keys the process behind a connection may have: of the node called `peer`, or of a scheduler when it
  // is empty. Empty while none is known.
  std::vector<std::string> KeysOf(const std::string& peer) const;

  // Prepares a socket before it listens.
  void MakeServer(zmq::socket_t& socket) const;
  // Prepares a socket before it connects to the owner of `server_key`. Returns false, and the socket is not to be used,
  // where that is no key: others have told it.
  bool MakeClient(zmq::socket_t& socket, const std::string& server_key) const;
  // Prepares a socket of either end of a connection to a data port, which asks for tickets itself: ZeroMQ lets
  // everybody in and encrypts nothing.
  static void MakeForDataPort(zmq::socket_t& socket);
  // Answers at most so many who want to come in, and returns whom it refuses, in words.
  std::vector<std::string> Serve(int most);

 private:
  // Returns the answer to ZeroMQ, and appends to `refused` whom it refuses.
  std::vector<zmq::message_t> Answer(const ReceivedFrames& question, std::vector<std::string>& refused) const;

  const SecurityOptions options_;
  AccessTable table_;
  PolledSocket questions_;  // of ZeroMQ
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_CONNECTION_SECURITY_H_
