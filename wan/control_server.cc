#include "wan/control_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "posix/unix_socket.h"

namespace banyan {
namespace {

constexpr size_t kMostConnections = 64;

bool Watch(int epoll, int operation, int fd, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Listen(const std::string& path, Handler handler) {
  absl::StatusOr<FileDescriptor> listener = ListenOnUnix(path);
  if (!listener.ok()) return listener.status();
  FileDescriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid() || !Watch(epoll.get(), EPOLL_CTL_ADD, listener->get(), EPOLLIN)) {
    return absl::ErrnoToStatus(errno, "cannot watch the control socket");
  }
  return std::unique_ptr<ControlServer>(new ControlServer(*std::move(listener), std::move(epoll), std::move(handler)));
}

ControlServer::ControlServer(FileDescriptor listener, FileDescriptor epoll, Handler handler)
    : listener_(std::move(listener)), epoll_(std::move(epoll)), handler_(std::move(handler)) {}

void ControlServer::Serve() {
  std::array<epoll_event, kMostConnections> events;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == listener_.get()) {
      Accept();
      continue;
    }
    const auto found = connections_.find(events[i].data.fd);
    if (found == connections_.end()) continue;
    Connection& connection = found->second;
    const bool goes_on = connection.answered ? SendRest(connection) : ReadRequest(connection);
    if (!goes_on) connections_.erase(found);
  }
}

void ControlServer::Accept() {
  FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid() || connections_.size() >= kMostConnections) return;
  const int fd = socket.get();
  if (!Watch(epoll_.get(), EPOLL_CTL_ADD, fd, EPOLLIN)) return;
  connections_[fd].socket = std::move(socket);
}

bool ControlServer::ReadRequest(Connection& connection) {
  Packet request;
  const PacketResult result = ReceivePacket(connection.socket.get(), kControlPacketBytes, /*may_block=*/false, request);
  if (result != PacketResult::kDone) return result == PacketResult::kWouldBlock;
  const absl::StatusOr<ControlReply> reply = handler_(request.bytes);
  connection.answered = true;
  if (reply.ok()) {
    connection.unsent = absl::StrCat(kControlOk, reply->text);
    connection.file = reply->file;
  } else {
    connection.unsent = absl::StrCat(kControlError, reply.status().message());
  }
  return SendRest(connection);
}

bool ControlServer::SendRest(Connection& connection) {
  while (!connection.unsent.empty()) {
    const absl::string_view part = absl::string_view(connection.unsent).substr(0, kControlPacketBytes);
    const PacketResult result = SendPacket(connection.socket.get(), part, connection.file, /*may_block=*/false);
    if (result == PacketResult::kWouldBlock) {
      return Watch(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), EPOLLOUT);
    }
    if (result != PacketResult::kDone) return false;
    connection.unsent.erase(0, part.size());
    connection.file = -1;
  }
  return false;
}

}  // namespace banyan
