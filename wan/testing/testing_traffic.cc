#include "wan/testing/testing_traffic.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "posix/steady_clock.h"
#include "wan/node_exec.h"

namespace banyan {
namespace {

constexpr size_t kSendBytes = 256 * 1024;
constexpr int kDiscardBytes = 1 << 24;
constexpr int kAnswerMs = 2000;
// Of datagrams.
constexpr int kSmallBytes = 100;
constexpr int kLargeBytes = 1400;
// A millisecond's worth; the receiver's buffer surely holds several.
constexpr int kBatch = 20;
constexpr int kFloodBatch = 25;  // likewise
constexpr int kQuietMs = 200;

void Require(bool good, absl::string_view what) {
  if (!good) throw std::runtime_error(absl::StrCat(what, ": ", std::strerror(errno)));
}

sockaddr_in BindTo(int socket, const std::string& address) {
  const absl::StatusOr<sockaddr_in> own = BindSocketTo(socket, address);
  if (!own.ok()) throw std::runtime_error(std::string(own.status().message()));
  return *own;
}

WanStatus StatusOf(const WanClient& client) {
  absl::StatusOr<WanStatus> status = client.Status();
  if (!status.ok()) throw std::runtime_error(std::string(status.status().message()));
  return *std::move(status);
}

void Echo(int socket) {
  char byte = 0;
  sockaddr_in from = {};
  socklen_t size = sizeof(from);
  if (recvfrom(socket, &byte, 1, 0, reinterpret_cast<sockaddr*>(&from), &size) == 1) {
    sendto(socket, &byte, 1, 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

// Waits for the datagram that has been sent to come back; the far socket returns it.
void AwaitEcho(int near, int far) {
  std::array<pollfd, 2> ready = {{{near, POLLIN, 0}, {far, POLLIN, 0}}};
  for (;;) {
    Require(poll(ready.data(), ready.size(), kAnswerMs) > 0, "no answer to a datagram");
    if ((ready[1].revents & POLLIN) != 0) Echo(far);
    if ((ready[0].revents & POLLIN) == 0) continue;
    char byte = 0;
    Require(recv(near, &byte, 1, 0) == 1, "recv");
    return;
  }
}

// Not at all where the priority cannot be had: then it would take time from what is measured.
void KeepAwake(const std::stop_token& stop) {
  const sched_param none = {};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
  while (!stop.stop_requested()) {
  }
}

// Keeps the machine's processors from resting while it lives, for measurements of fractions of a millisecond: a virtual
// machine's processor that rests takes up to half a millisecond to wake, and ten wake-ups are in a round trip. What it
// does for that gives way to all else (SCHED_IDLE). Owned by the measurement. Thread-compatible.
class AwakeProcessors {
 public:
  AwakeProcessors() {
    const unsigned count = std::thread::hardware_concurrency();
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back(KeepAwake);
  }

 private:
  // One for each processor; their destruction ends and joins them.
  std::vector<std::jthread> threads_;
};

}  // namespace

FileDescriptor SocketIn(const WanClient& client, const std::string& node, int type) {
  absl::StatusOr<FileDescriptor> made = OpenSocketIn(client, node, type);
  if (!made.ok()) throw std::runtime_error(std::string(made.status().message()));
  return *std::move(made);
}

void ConnectDatagrams(const WanClient& client, int sender, int receiver, const std::string& to) {
  const sockaddr_in address = BindTo(receiver, StatusOf(client).FindNode(to)->address);
  Require(connect(sender, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, "connect");
}

TcpFlows::TcpFlows(const WanClient& client, const std::vector<FlowSpec>& specs)
    : received_bytes_(specs.size()), data_(kSendBytes), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  Require(epoll_.valid(), "epoll");
  const WanStatus status = StatusOf(client);
  for (const FlowSpec& spec : specs) {
    flows_.push_back(Connect(client, spec, status));
    const uint64_t index = flows_.size() - 1;
    epoll_event event = {};
    event.events = EPOLLOUT;
    event.data.u64 = 2 * index;
    Require(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, flows_.back().sender.get(), &event) == 0, "epoll");
    event.events = EPOLLIN;
    event.data.u64 = 2 * index + 1;
    Require(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, flows_.back().receiver.get(), &event) == 0, "epoll");
  }
}

TcpFlows::Flow TcpFlows::Connect(const WanClient& client, const FlowSpec& spec, const WanStatus& status) {
  const FileDescriptor listener = SocketIn(client, spec.to, SOCK_STREAM);
  const sockaddr_in address = BindTo(listener.get(), status.FindNode(spec.to)->address);
  Require(listen(listener.get(), 1) == 0, "listen");
  Flow flow;
  flow.sender = SocketIn(client, spec.from, SOCK_STREAM);
  if (!spec.congestion.empty()) {
    const int set = setsockopt(flow.sender.get(), IPPROTO_TCP, TCP_CONGESTION, spec.congestion.data(),
                               static_cast<socklen_t>(spec.congestion.size()));
    Require(set == 0, spec.congestion);
  }
  Require(connect(flow.sender.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, "connect");
  flow.receiver = FileDescriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  Require(flow.receiver.valid(), "accept");
  return flow;
}

void TcpFlows::Run(absl::Duration duration) {
  const Timestamp end = SteadyNow() + duration;
  std::array<epoll_event, 64> events;
  for (Timestamp now = SteadyNow(); now < end; now = SteadyNow()) {
    const auto left_ms = static_cast<int>(absl::ToInt64Milliseconds(end - now));
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), left_ms);
    for (int i = 0; i < count; ++i) {
      const size_t flow = events[i].data.u64 / 2;
      if (events[i].data.u64 % 2 == 0) {
        Send(flow);
      } else {
        Receive(flow);
      }
    }
  }
}

int64_t TcpFlows::TotalBytes() const {
  return std::accumulate(received_bytes_.begin(), received_bytes_.end(), int64_t{0});
}

void TcpFlows::Send(size_t flow) {
  const ssize_t sent = send(flows_[flow].sender.get(), data_.data(), data_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  Require(sent > 0 || errno == EAGAIN, "send");
}

// The bytes themselves are of no use, and need not be copied.
void TcpFlows::Receive(size_t flow) {
  const ssize_t got = recv(flows_[flow].receiver.get(), nullptr, kDiscardBytes, MSG_DONTWAIT | MSG_TRUNC);
  Require(got > 0 || errno == EAGAIN, "recv");
  if (got > 0) received_bytes_[flow] += got;
}

absl::Duration MedianRoundTrip(const WanClient& client, const std::string& from, const std::string& to, int count) {
  const FileDescriptor near = SocketIn(client, from, SOCK_DGRAM);
  const FileDescriptor far = SocketIn(client, to, SOCK_DGRAM);
  ConnectDatagrams(client, near.get(), far.get(), to);
  const AwakeProcessors awake;
  std::vector<absl::Duration> trips;
  for (int i = 0; i < count; ++i) {
    const Timestamp start = SteadyNow();
    const char byte = 0;
    Require(send(near.get(), &byte, 1, 0) == 1, "send");
    AwaitEcho(near.get(), far.get());
    trips.push_back(SteadyNow() - start);
  }
  std::nth_element(trips.begin(), trips.begin() + count / 2, trips.end());
  return trips[count / 2];
}

TestingDatagrams::TestingDatagrams(const WanClient& client, const std::string& from, const std::string& to)
    : sender_(SocketIn(client, from, SOCK_DGRAM)), receiver_(SocketIn(client, to, SOCK_DGRAM)) {
  ConnectDatagrams(client, sender_.get(), receiver_.get(), to);
}

int TestingDatagrams::SendAndCount(int count) const {
  const std::array<char, kSmallBytes> data = {};
  int received = 0;
  for (int sent = 0; sent < count;) {
    for (int i = 0; i < kBatch && sent < count; ++i, ++sent) send(sender_.get(), data.data(), data.size(), 0);
    poll(nullptr, 0, 1);
    received += ReceiveAll();
  }
  pollfd ready = {receiver_.get(), POLLIN, 0};
  while (poll(&ready, 1, kQuietMs) > 0) received += ReceiveAll();
  return received;
}

void TestingDatagrams::Flood(absl::Duration duration) const {
  const std::array<char, kLargeBytes> data = {};
  const Timestamp end = SteadyNow() + duration;
  for (Timestamp now = SteadyNow(); now < end; now = SteadyNow()) {
    for (int i = 0; i < kFloodBatch; ++i) send(sender_.get(), data.data(), data.size(), MSG_DONTWAIT);
    ReceiveAll();
    poll(nullptr, 0, 1);
  }
}

int TestingDatagrams::ReceiveAll() const {
  int count = 0;
  std::array<char, kLargeBytes> data;
  while (recv(receiver_.get(), data.data(), data.size(), MSG_DONTWAIT) > 0) ++count;
  return count;
}

}  // namespace banyan
