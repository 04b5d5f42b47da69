#include "runtime/transport/connection_security.h"

#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

// As text, with the zero behind it. Returns whether it is a key: not every text of the right form has a value.
bool SetKey(zmq::socket_t& socket, int option, const std::string& key) {
  return zmq_setsockopt(socket.handle(), option, key.c_str(), key.size() + 1) == 0;
}

}  // namespace

ConnectionSecurity::ConnectionSecurity(SocketPoller& poller, SecurityOptions options)
    : options_(std::move(options)),
      zap_(poller, [this](const std::string& public_key) { return table_.Find(public_key) != nullptr; }) {}

std::vector<std::string> ConnectionSecurity::KeysOf(const std::string& peer) const {
  return peer.empty() ? options_.scheduler_keys : table_.KeysOf(peer);
}

void ConnectionSecurity::MakeServer(zmq::socket_t& socket) const {
  constexpr int kYes = 1;
  BANYAN_CHECK(zmq_setsockopt(socket.handle(), ZMQ_CURVE_SERVER, &kYes, sizeof(kYes)) == 0);
  // Without somebody who answers ZeroMQ lets everybody in who has keys: hence the handler is there before any socket.
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_SECRETKEY, options_.keys.secret_key));
}

bool ConnectionSecurity::MakeClient(zmq::socket_t& socket, const std::string& server_key) const {
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_PUBLICKEY, options_.keys.public_key));
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_SECRETKEY, options_.keys.secret_key));
  return SetKey(socket, ZMQ_CURVE_SERVERKEY, server_key);
}

}  // namespace banyan
