#include "tests/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

sockaddr_in LoopbackAddress(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

FileDescriptor NewSocket() { return FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

FileDescriptor Listen(int& port) {
  FileDescriptor listener = NewSocket();
  sockaddr_in address = LoopbackAddress(0);
  socklen_t size = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  BANYAN_CHECK(bind(listener.get(), raw, size) == 0 && listen(listener.get(), 128) == 0 &&
               getsockname(listener.get(), raw, &size) == 0);
  port = ntohs(address.sin_port);
  return listener;
}

void SendAtOnce(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// Closing it resets the connection.
void ResetAtClose(int socket) {
  const linger abort = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

TcpProxy::TcpProxy(int target_port)
    : listener_(Listen(port_)), wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), target_port_(target_port) {
  thread_ = std::thread([this] { Work(); });
}

TcpProxy::~TcpProxy() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
}

std::string TcpProxy::address() const { return absl::StrCat("tcp://127.0.0.1:", port_); }

void TcpProxy::Wake() { BANYAN_CHECK(eventfd_write(wakeup_.get(), 1) == 0); }

void TcpProxy::FallSilent() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    silent_ = true;
  }
  Wake();
}

void TcpProxy::FallSilent(const std::string& opening) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    silent_opening_ = opening;
  }
  Wake();
}

void TcpProxy::SpeakAgain() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    silent_ = false;
    silent_opening_.clear();
  }
  Wake();
}

void TcpProxy::SwallowAfter(int64_t size_bytes, bool one_way) {
  std::lock_guard<std::mutex> lock(mutex_);
  swallow_after_bytes_ = size_bytes;
  swallow_one_way_ = one_way;
}

void TcpProxy::SwallowOfPresent(bool one_way) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    swallow_present_ = true;
    swallow_one_way_ = one_way;
  }
  Wake();
}

void TcpProxy::SwallowNoMore() {
  std::lock_guard<std::mutex> lock(mutex_);
  swallow_after_bytes_ = -1;
}

int TcpProxy::swallowing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return swallowing_;
}

void TcpProxy::Drop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    drop_ = true;
  }
  Wake();
}

void TcpProxy::DropAfter(int64_t size_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  drop_at_bytes_ = passed_bytes_ + size_bytes;
}

int64_t TcpProxy::passed_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return passed_bytes_;
}

int TcpProxy::dropped() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return dropped_;
}

bool TcpProxy::WaitUntilDropped(int connections, absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout), [&] { return dropped_ >= connections; });
}

std::vector<std::string> TcpProxy::recorded() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return records_;
}

void TcpProxy::Work() {
  std::vector<pollfd> items;
  while (true) {
    Wait(items);
    bool drop = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) break;
      if (std::exchange(swallow_present_, false)) {
        for (Connection& connection : connections_) BeginToSwallow(connection);
      }
      drop = std::exchange(drop_, false);
      if (silent_ && !drop) continue;
    }
    if (drop) DropAll();
    Accept();
    for (Connection& connection : connections_) Move(connection);
    connections_.remove_if([](const Connection& connection) { return connection.broken; });
  }
}

// Waits until something can be done; `items` is only room that is used again.
void TcpProxy::Wait(std::vector<pollfd>& items) {
  items.assign(1, {wakeup_.get(), POLLIN, 0});
  std::unique_lock<std::mutex> lock(mutex_);
  if (!silent_) {
    items.push_back({listener_.get(), POLLIN, 0});
    for (const Connection& connection : connections_) {
      if (IsHeldBack(connection)) continue;
      const auto events = [](const Flow& in, const Flow& out) {
        const int read = in.waiting.size() < kBufferBytes && !in.ended ? POLLIN : 0;
        return static_cast<short>(read | (out.waiting.empty() ? 0 : POLLOUT));
      };
      items.push_back({connection.client.get(), events(connection.up, connection.down), 0});
      items.push_back({connection.target.get(), events(connection.down, connection.up), 0});
    }
  }
  lock.unlock();
  BANYAN_CHECK(poll(items.data(), items.size(), -1) >= 0 || errno == EINTR);
  eventfd_t ignored = 0;
  eventfd_read(wakeup_.get(), &ignored);
}

void TcpProxy::Accept() {
  while (true) {
    FileDescriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client.valid()) return;
    FileDescriptor target = NewSocket();
    const sockaddr_in address = LoopbackAddress(target_port_);
    if (connect(target.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
        errno != EINPROGRESS) {
      continue;
    }
    SendAtOnce(client.get());
    SendAtOnce(target.get());
    Connection connection;
    connection.client = std::move(client);
    connection.target = std::move(target);
    std::lock_guard<std::mutex> lock(mutex_);
    connection.record = records_.size();
    records_.emplace_back();
    connections_.push_back(std::move(connection));
  }
}

// REQUIRES: mutex_ is held.
bool TcpProxy::IsHeldBack(const Connection& connection) const {
  if (silent_opening_.empty()) return false;
  const absl::string_view begin = records_[connection.record];
  return absl::StrContains(begin.substr(0, kOpeningBytes), silent_opening_);
}

// REQUIRES: mutex_ is held.
void TcpProxy::BeginToSwallow(Connection& connection) {
  if (connection.up.swallows) return;
  connection.up.swallows = true;
  connection.down.swallows = !swallow_one_way_;
  ++swallowing_;
}

void TcpProxy::Move(Connection& connection) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsHeldBack(connection)) return;
  const int64_t most_bytes = swallow_after_bytes_ < 0 ? INT64_MAX : swallow_after_bytes_;
  const int client = connection.client.get();
  const int target = connection.target.get();
  const int64_t up = Forward(client, target, most_bytes, connection.up, &records_[connection.record]);
  if (connection.up.taken_bytes > most_bytes) BeginToSwallow(connection);
  const int64_t down = Forward(target, client, INT64_MAX, connection.down, nullptr);
  passed_bytes_ += up + down;
  const bool up_done = connection.up.ended && connection.up.waiting.empty();
  const bool down_done = connection.down.ended && connection.down.waiting.empty();
  connection.broken = up_done || down_done;
  if (drop_at_bytes_ < 0 || passed_bytes_ < drop_at_bytes_) return;
  drop_at_bytes_ = -1;
  drop_ = true;
  Wake();
}

// Reads what has come and writes what can go, the first `most_bytes` of the flow at most; gives the number of bytes
// written.
int64_t TcpProxy::Forward(int from, int to, int64_t most_bytes, Flow& flow, std::string* record) {
  char bytes[1 << 16];
  while (!flow.ended && flow.waiting.size() < kBufferBytes) {
    const ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    if (got < 0 && WouldBlock()) break;
    flow.ended = got <= 0;
    if (flow.ended) break;
    const int64_t passes = std::clamp<int64_t>(most_bytes - flow.taken_bytes, 0, got);
    flow.taken_bytes += got;
    if (flow.swallows) continue;
    flow.waiting.append(bytes, static_cast<size_t>(passes));
    if (record == nullptr || record->size() >= kRecordedBytes) continue;
    record->append(bytes, std::min(static_cast<size_t>(got), kRecordedBytes - record->size()));
  }
  size_t written = 0;
  while (written < flow.waiting.size()) {
    const ssize_t sent = send(to, flow.waiting.data() + written, flow.waiting.size() - written, MSG_NOSIGNAL);
    if (sent < 0 && WouldBlock()) break;
    if (sent < 0) {
      flow.ended = true;
      flow.waiting.clear();
      return 0;
    }
    written += static_cast<size_t>(sent);
  }
  flow.waiting.erase(0, written);
  return static_cast<int64_t>(written);
}

void TcpProxy::DropAll() {
  for (Connection& connection : connections_) {
    ResetAtClose(connection.client.get());
    ResetAtClose(connection.target.get());
  }
  const int count = static_cast<int>(connections_.size());
  connections_.clear();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    dropped_ += count;
  }
  changed_.notify_all();
}

}  // namespace banyan
