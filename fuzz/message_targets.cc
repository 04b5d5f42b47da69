#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "core/buffer.h"
#include "core/check.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_target.h"
#include "proto/session_codec.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"
#include "runtime/transport/data_port.h"
#include "runtime/transport/sealed_frames.h"
#include "runtime/transport/socket_frames.h"
#include "zmq.hpp"

namespace banyan {
namespace {

void Append(std::string* bytes, uint16_t number) {
  bytes->push_back(static_cast<char>(number & 0xff));
  bytes->push_back(static_cast<char>(number >> 8));
}

// Lengths of two bytes each: of the header, and of every frame of the payload. Then all of these.
std::string InOneText(const std::string& header, const Payload& payload) {
  std::string bytes(1, static_cast<char>(payload.size()));
  Append(&bytes, static_cast<uint16_t>(header.size()));
  for (const Buffer& frame : payload) Append(&bytes, static_cast<uint16_t>(frame.size_bytes()));
  bytes += header;
  for (const Buffer& frame : payload) bytes.append(static_cast<const char*>(frame.data()), frame.size_bytes());
  return bytes;
}

// Decodes `bytes` and returns whether that went well. What was read must be written in one way, which reads as the
// same.
template <typename Decode, typename Encode>
bool ComesBack(absl::string_view bytes, const Decode& decode, const Encode& encode) {
  const auto message = decode(bytes);
  if (!message.ok()) return false;
  const std::string written = encode(*message);
  const auto again = decode(written);
  BANYAN_CHECK(again.ok());
  BANYAN_CHECK(encode(*again) == written);
  return true;
}

bool RunWire(absl::string_view bytes) {
  FuzzInput input(bytes);
  std::vector<size_t> sizes(input.Take<uint8_t>());
  const size_t header_bytes = input.Take<uint16_t>();
  for (size_t& size : sizes) size = input.Take<uint16_t>();
  const absl::string_view header = input.TakeBytes(header_bytes);
  Payload payload;
  for (const size_t size : sizes) payload.push_back(Buffer::CopyOfBytes(AsBytes(input.TakeBytes(size))));

  return ComesBack(
      header, [&payload](absl::string_view text) { return DecodeMessage(text, payload); }, EncodeMessage);
}

std::vector<std::string> WireSeeds() {
  std::vector<std::string> seeds;
  for (const WireSample& sample : WireSamples())
    seeds.push_back(InOneText(EncodeMessage(sample.message), sample.payload));
  return seeds;
}

bool RunWorkerMessage(absl::string_view bytes) { return ComesBack(bytes, DecodeWorkerMessage, EncodeWorkerMessage); }

std::vector<std::string> WorkerMessageSeeds() {
  std::vector<std::string> seeds;
  for (const WorkerMessage& message : std::vector<WorkerMessage>{
           AttachWorker{7, WorkerId(3), CallId(11)}, OpenTensor{CallId(1), "fc1.weight", 12345},
           DescribeGroup{{{"q", 4}, {"none", 0}, {"v", int64_t{1} << 40}}},
           TensorCall{CallId(2), TensorId(4), TensorCallKind::kPushPull, 1, 2, -5, 4096}, BarrierCall{CallId(9)},
           ReportLossCall{CallId(10), 77, 0.25}, DescribeState{{{"adam.step", 8}, {"fc1.weight", 1 << 30}}},
           ShareStateCall{CallId(12)}, BoundaryCall{CallId(13), 1200}, FetchStateCall{CallId(14), absl::Seconds(3)},
           StateFilled{3, true}, StateTaken{4, true}, DescribeWait{CallId(16), "fc1.weight"}, WorkerGoodBye{}}) {
    seeds.push_back(EncodeWorkerMessage(message));
  }
  return seeds;
}

bool RunWorkerReply(absl::string_view bytes) { return ComesBack(bytes, DecodeWorkerReply, EncodeWorkerReply); }

std::vector<std::string> WorkerReplySeeds() {
  std::vector<std::string> seeds;
  for (const WorkerReply& reply : std::vector<WorkerReply>{
           WorkerAttached{CallId(1), "n1", 2, JobTraits{AggregationOp::kSum, true}},
           TensorOpened{CallId(2), TensorId(3), 999, 2, 1},
           CallCompleted{CallId(5), absl::UnavailableError("node n3 was lost"), Round(18)}, SlotFreed{TensorId(3), 1},
           RoundCompleted{TensorId(3), Round(19)}, JobEnded{absl::UnavailableError("node n3 was lost")},
           StateOpened{CallId(7), 1 << 18, 8}, HoldAtBoundary{true}, StateRead{2, ChunkIndex(5)},
           MembersChanged{Epoch(3), {{"n1", 2}, {"n2", 1}}, true}}) {
    seeds.push_back(EncodeWorkerReply(reply));
  }
  return seeds;
}

// What comes before a key is proven at a data port, or in its name: messages about tickets, and sealed frames. The
// first byte says how many frames follow; each has its length in two bytes before it.
std::string InOneText(const std::vector<zmq::message_t>& frames) {
  std::string bytes(1, static_cast<char>(frames.size()));
  for (const zmq::message_t& frame : frames) {
    Append(&bytes, static_cast<uint16_t>(frame.size()));
    bytes.append(frame.data<char>(), frame.size());
  }
  return bytes;
}

bool RunDataPort(absl::string_view bytes) {
  FuzzInput input(bytes);
  std::vector<zmq::message_t> frames(input.Take<uint8_t>());
  for (zmq::message_t& frame : frames) {
    const absl::string_view text = input.TakeBytes(input.Take<uint16_t>());
    frame = zmq::message_t(text.data(), text.size());
  }
  const absl::StatusOr<std::optional<DataTicket>> ticket = ReadTicketAnswer(frames);
  if (ticket.ok()) BANYAN_CHECK(*ReadTicketAnswer(TicketAnswer(*ticket)) == *ticket);
  const bool is_request = ReadTicketRequest(frames).ok();
  FrameOpener opener(Aead::kChaCha20Poly1305, AeadKey{});
  const bool opens = !frames.empty() && opener.Open(frames).ok();
  return ticket.ok() || is_request || opens;
}

std::vector<std::string> DataPortSeeds() {
  FrameSealer sealer(Aead::kChaCha20Poly1305, AeadKey{});
  std::vector<zmq::message_t> sealed;
  for (const std::string text : {"header", "payload"}) sealed.emplace_back(text.data(), text.size());
  sealer.Seal(sealed);
  return {InOneText(TicketRequest(Aead::kAes256Gcm)), InOneText(TicketAnswer(std::nullopt)),
          InOneText(TicketAnswer(DataTicket{.port = 7})), InOneText(sealed)};
}

}  // namespace

std::vector<FuzzTarget> MessageTargets() {
  return {{"wire", RunWire, WireSeeds},
          {"data-port", RunDataPort, DataPortSeeds},
          {"worker-message", RunWorkerMessage, WorkerMessageSeeds},
          {"worker-reply", RunWorkerReply, WorkerReplySeeds}};
}

}  // namespace banyan
