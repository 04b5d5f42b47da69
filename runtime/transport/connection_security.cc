#include "runtime/transport/connection_security.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/check.h"

namespace banyan {
namespace {

// As text, with the zero behind it. Returns whether it is a key: not every text of the right form has a value.
bool SetKey(zmq::socket_t& socket, int option, const std::string& key) {
  return zmq_setsockopt(socket.handle(), option, key.c_str(), key.size() + 1) == 0;
}

constexpr char kZapAddress[] = "inproc://zeromq.zap.01";
constexpr char kZapVersion[] = "1.0";
// Of a question: version, id, domain, address, routing id, mechanism, public key (not of those without one).
constexpr size_t kZapFrames = 7;
constexpr char kDataPortDomain[] = "banyan data port";

zmq::message_t Frame(absl::string_view text) { return zmq::message_t(text.data(), text.size()); }

}  // namespace

ConnectionSecurity::ConnectionSecurity(SocketPoller& poller, SecurityOptions options)
    : options_(std::move(options)), questions_(poller, zmq::socket_type::rep) {
  questions_.socket().set(zmq::sockopt::linger, 0);
  questions_.socket().bind(kZapAddress);
}

std::vector<std::string> ConnectionSecurity::KeysOf(const std::string& peer) const {
  return peer.empty() ? options_.scheduler_keys : table_.KeysOf(peer);
}

void ConnectionSecurity::MakeServer(zmq::socket_t& socket) const {
  constexpr int kYes = 1;
  BANYAN_CHECK(zmq_setsockopt(socket.handle(), ZMQ_CURVE_SERVER, &kYes, sizeof(kYes)) == 0);
  // Without somebody who answers ZeroMQ lets everybody in who has keys: hence it listens before any socket.
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_SECRETKEY, options_.keys.secret_key));
}

bool ConnectionSecurity::MakeClient(zmq::socket_t& socket, const std::string& server_key) const {
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_PUBLICKEY, options_.keys.public_key));
  BANYAN_CHECK(SetKey(socket, ZMQ_CURVE_SECRETKEY, options_.keys.secret_key));
  return SetKey(socket, ZMQ_CURVE_SERVERKEY, server_key);
}

void ConnectionSecurity::MakeForDataPort(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::zap_domain, kDataPortDomain);
}

// ---- ZeroMQ asks ----

std::vector<std::string> ConnectionSecurity::Serve(int most) {
  std::vector<std::string> refused;
  ReceivedFrames question;
  for (int i = 0; i < most && questions_.Receive(kZapFrames, question); ++i) {
    std::vector<zmq::message_t> answer = Answer(question, refused);
    questions_.Send(answer);
  }
  return refused;
}

std::vector<zmq::message_t> ConnectionSecurity::Answer(const ReceivedFrames& question,
                                                       std::vector<std::string>& refused) const {
  const std::vector<zmq::message_t>& frames = question.frames;
  const bool is_whole = frames.size() == kZapFrames && !question.too_many && BytesOf(frames[0]) == kZapVersion;
  const std::string key = is_whole && BytesOf(frames[5]) == "CURVE" ? KeyText(BytesOf(frames[6])) : std::string();
  // The domain is the listening socket's, and not for who comes to choose.
  const bool is_for_data_port = frames.size() + 1 == kZapFrames && BytesOf(frames[0]) == kZapVersion &&
                                BytesOf(frames[2]) == kDataPortDomain && BytesOf(frames[5]) == "NULL";
  const bool admits = is_for_data_port || (!key.empty() && table_.Find(key) != nullptr);
  if (!admits) {
    refused.push_back(absl::StrCat("a process at ", is_whole ? std::string(BytesOf(frames[3])) : "an unknown address",
                                   key.empty() ? " without a key" : absl::StrCat(" with the unlisted key ", key)));
  }
  std::vector<zmq::message_t> answer;
  answer.push_back(Frame(kZapVersion));
  answer.push_back(Frame(frames.size() > 1 ? BytesOf(frames[1]) : absl::string_view()));
  answer.push_back(Frame(admits ? "200" : "400"));
  answer.push_back(Frame(admits ? "OK" : "the key is not listed"));
  answer.push_back(Frame(key));
  answer.push_back(Frame(""));
  return answer;
}

}  // namespace banyan
