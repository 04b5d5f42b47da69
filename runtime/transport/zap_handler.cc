#include "runtime/transport/zap_handler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "access/curve_keys.h"

namespace banyan {
namespace {

constexpr char kAddress[] = "inproc://zeromq.zap.01";
constexpr char kZapVersion[] = "1.0";
// Of a question: version, id, domain, address, routing id, mechanism, public key.
constexpr size_t kFrames = 7;

zmq::message_t Frame(absl::string_view text) { return zmq::message_t(text.data(), text.size()); }

}  // namespace

ZapHandler::ZapHandler(SocketPoller& poller, Admits admits)
    : socket_(poller, zmq::socket_type::rep), admits_(std::move(admits)) {
  socket_.socket().set(zmq::sockopt::linger, 0);
  socket_.socket().bind(kAddress);
}

std::vector<std::string> ZapHandler::Serve(int most) {
  std::vector<std::string> refused;
  ReceivedFrames question;
  for (int i = 0; i < most && socket_.Receive(kFrames, question); ++i) {
    std::vector<zmq::message_t> answer = Answer(question, refused);
    socket_.Send(answer);
  }
  return refused;
}

std::vector<zmq::message_t> ZapHandler::Answer(const ReceivedFrames& question,
                                               std::vector<std::string>& refused) const {
  const std::vector<zmq::message_t>& frames = question.frames;
  const bool is_whole = frames.size() == kFrames && !question.too_many && BytesOf(frames[0]) == kZapVersion;
  const std::string key = is_whole && BytesOf(frames[5]) == "CURVE" ? KeyText(BytesOf(frames[6])) : std::string();
  const bool admits = !key.empty() && admits_(key);
  if (!admits) {
    refused.push_back(absl::StrCat("somebody at ", is_whole ? std::string(BytesOf(frames[3])) : "an unknown address",
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
