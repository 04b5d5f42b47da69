#include "runtime/session/unix_port.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/check.h"
#include "posix/steady_clock.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

constexpr absl::Duration kConnectPause = absl::Milliseconds(20);

// The memory that comes with a reply.
struct Opening {
  CallId call;
  TensorSegment::Shape shape;
};

// Nothing for replies without memory.
std::optional<Opening> OpeningOf(const WorkerReply& reply) {
  if (const auto* opened = std::get_if<TensorOpened>(&reply)) {
    return Opening{opened->call, {opened->elements, opened->gradient_slots, opened->result_slots, opened->type}};
  }
  if (const auto* opened = std::get_if<StateOpened>(&reply)) {
    return Opening{opened->call, {opened->slot_bytes, opened->slots, opened->slots, DataType::kByte}};
  }
  return std::nullopt;
}

// Waits for room then end after `timeout`, at least one millisecond, as if there were none.
void SetSendTimeout(int socket, absl::Duration timeout) {
  if (timeout == absl::InfiniteDuration()) return;
  const timeval time = absl::ToTimeval(std::max(timeout, absl::Milliseconds(1)));
  BANYAN_CHECK(setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixPort>> UnixPort::Connect(const std::string& address, absl::Duration timeout,
                                                            absl::Duration send_timeout) {
  absl::StatusOr<std::string> path = UnixPathOf(address);
  if (!path.ok()) return path.status();
  const Timestamp deadline = SteadyNow() + timeout;
  while (true) {
    absl::StatusOr<FileDescriptor> socket = ConnectToUnix(*path);
    if (socket.ok()) {
      SetSendTimeout(socket->get(), send_timeout);
      return std::make_unique<UnixPort>(*std::move(socket), address);
    }
    const absl::Duration left = deadline - SteadyNow();
    if (!absl::IsUnavailable(socket.status()) || left <= absl::ZeroDuration()) return socket.status();
    // The node may be about to start: a socket file that is not there yet gives nothing to wait on.
    absl::SleepFor(std::min(kConnectPause, left));
  }
}

UnixPort::UnixPort(FileDescriptor socket, std::string address)
    : socket_(std::move(socket)), address_(std::move(address)) {}

UnixPort::~UnixPort() { Close(); }

void UnixPort::Start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  thread_ = std::thread([this] { Work(); });
}

absl::Status UnixPort::Send(const WorkerMessage& message) {
  // The node is to see the end of this process, although a child may hold the socket.
  const FileDescriptor process = std::holds_alternative<AttachWorker>(message) ? OwnProcessWatch() : FileDescriptor();
  switch (SendPacket(socket_.get(), EncodeWorkerMessage(message), process.get(), /*may_block=*/true)) {
    case PacketResult::kDone:
      return absl::OkStatus();
    case PacketResult::kWouldBlock:
      // A message is lost, and all later ones would wait as long.
      return End(absl::UnavailableError(
          absl::StrCat("the node at ", address_, " does not read any more; is its process stopped?")));
    case PacketResult::kClosed:
      break;
  }
  return WhyEnded();
}

absl::Status UnixPort::TrySend(const WorkerMessage& message, absl::Duration patience) {
  const std::string bytes = EncodeWorkerMessage(message);
  PacketResult result = SendPacket(socket_.get(), bytes, -1, /*may_block=*/false);
  if (result == PacketResult::kWouldBlock && patience > absl::ZeroDuration()) {
    pollfd room = {socket_.get(), POLLOUT, 0};
    poll(&room, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
    result = SendPacket(socket_.get(), bytes, -1, /*may_block=*/false);
  }
  if (result == PacketResult::kDone) return absl::OkStatus();
  if (result == PacketResult::kClosed) return WhyEnded();
  return absl::DeadlineExceededError(absl::StrCat("the node at ", address_, " does not read; is its process stopped?"));
}

absl::Status UnixPort::ClosedByNode() const {
  return absl::UnavailableError(absl::StrCat("the node at ", address_, " has closed the connection"));
}

absl::Status UnixPort::WhyEnded() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return end_;
}

absl::Status UnixPort::End(const absl::Status& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (end_.ok()) end_ = reason;
  // A sender that waits for room must not wait for ever.
  shutdown(socket_.get(), SHUT_RDWR);
  return end_;
}

void UnixPort::Close() {
  closing_ = true;
  shutdown(socket_.get(), SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
}

void UnixPort::Work() {
  absl::Status status;
  while (status.ok()) status = ReceiveOne();
  if (closing_) return;
  callbacks_.closed(End(status));
}

absl::Status UnixPort::ReceiveOne() {
  Packet packet;
  if (ReceivePacket(socket_.get(), kMaxSessionMessageBytes, /*may_block=*/true, packet) != PacketResult::kDone) {
    return ClosedByNode();
  }
  absl::StatusOr<WorkerReply> reply = DecodeWorkerReply(packet.bytes);
  if (!reply.ok()) return reply.status();
  std::shared_ptr<TensorSegment> segment;
  if (const std::optional<Opening> opening = OpeningOf(*reply); opening.has_value()) {
    auto mapped = MapSegment(std::move(packet.file), opening->shape);
    if (mapped.ok()) {
      segment = *std::move(mapped);
    } else if (absl::IsResourceExhausted(mapped.status())) {
      // This process has no room for it. Other keys live on.
      reply = CallCompleted{opening->call, mapped.status(), Round()};
    } else {
      return mapped.status();
    }
  }
  callbacks_.reply(*std::move(reply), std::move(segment));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<TensorSegment>> UnixPort::MapSegment(FileDescriptor file,
                                                                    const TensorSegment::Shape& shape) {
  constexpr char kWhat[] = "shared memory";
  if (absl::Status taken = budget_->Take(kWhat, shape); !taken.ok()) return taken;
  auto mapped = TensorSegment::Map(std::move(file), shape);
  if (!mapped.ok()) {
    budget_->Return(kWhat, shape);
    return mapped.status();
  }
  (*mapped)->CloseFile();
  return Counted(*std::move(mapped), kWhat, budget_);
}

}  // namespace banyan
