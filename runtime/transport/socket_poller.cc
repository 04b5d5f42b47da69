#include "runtime/transport/socket_poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/check.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// How late a message may be seen whose signal a Send has taken. Asking after each would cost a system call for nearly
// every chunk, and have the loop turn once more.
constexpr absl::Duration kAskInterval = absl::Milliseconds(5);
// What is left comes with the next wait.
constexpr int kMostEvents = 64;
// A node sums and encodes on the others.
constexpr unsigned kProcessorsPerIoThread = 4;
constexpr unsigned kMostIoThreads = 4;

// Milliseconds to wait, rounded up, -1 for ever.
int TimeoutMs(Timestamp now, Timestamp deadline) {
  if (deadline == kNever) return -1;
  const int64_t wait_ns = std::max<int64_t>(0, deadline.nanoseconds() - now.nanoseconds());
  return static_cast<int>(std::min<int64_t>((wait_ns + 999999) / 1000000, std::numeric_limits<int>::max()));
}

}  // namespace

int IoThreadsFor(unsigned processors) {
  return static_cast<int>(std::clamp(processors / kProcessorsPerIoThread, 1U, kMostIoThreads));
}

SocketPoller::SocketPoller(int most_sockets, int io_threads) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  BANYAN_CHECK(epoll_.valid());
  context_.set(zmq::ctxopt::io_threads, io_threads);
  context_.set(zmq::ctxopt::max_sockets, most_sockets);
}

bool SocketPoller::Watch(int fd, SocketReadiness* readiness) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = readiness;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void SocketPoller::Add(int fd, SocketReadiness& readiness) {
  if (!Watch(fd, &readiness)) throw zmq::error_t();
  MayReceive(readiness);
}

void SocketPoller::Remove(int fd, SocketReadiness& readiness) {
  BANYAN_CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0);
  ready_.erase(&readiness);
  sent_.erase(&readiness);
}

std::set<ConnectionId> SocketPoller::ReadyOwners() {
  std::erase_if(ready_, [](const SocketReadiness* socket) { return !socket->may_receive; });
  std::set<ConnectionId> owners;
  for (const SocketReadiness* socket : ready_) owners.insert(socket->owner);
  return owners;
}

bool SocketPoller::Wait(int wakeup_fd, Timestamp deadline) {
  if (wakeup_fd_ < 0) {
    BANYAN_CHECK(Watch(wakeup_fd, nullptr));
    wakeup_fd_ = wakeup_fd;
  }
  BANYAN_CHECK(wakeup_fd == wakeup_fd_);
  std::erase_if(ready_, [](const SocketReadiness* socket) { return !socket->may_receive; });
  const bool busy = !ready_.empty();
  if (!sent_.empty()) deadline = std::min(deadline, ask_at_);
  std::array<epoll_event, kMostEvents> events;
  // An interrupted wait only ends early.
  const int ready = epoll_wait(epoll_.get(), events.data(), kMostEvents, busy ? 0 : TimeoutMs(SteadyNow(), deadline));
  BANYAN_CHECK(ready >= 0 || errno == EINTR);
  bool woken = false;
  for (int i = 0; i < ready; ++i) {
    auto* socket = static_cast<SocketReadiness*>(events[i].data.ptr);
    if (socket == nullptr) {
      woken = true;
    } else {
      MayReceive(*socket);
    }
  }
  return woken;
}

void SocketPoller::AskAfterSends(Timestamp now) {
  // After a pause the first Send is asked about at once: a process at rest does not wake for it later.
  if (now < ask_at_ || sent_.empty()) return;
  for (SocketReadiness* socket : std::exchange(sent_, {})) {
    socket->has_sent = false;
    MayReceive(*socket);
  }
  ask_at_ = now + kAskInterval;
}

}  // namespace banyan
