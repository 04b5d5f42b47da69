// The ZeroMQ sockets of a thread, as far as it waits for them: their context, and an epoll of their descriptors.
// Thread-compatible; used by the protocol thread only. Outlives its sockets.
//
// Invariants:
// - Each turn of the loop costs as much as has happened, and not as much as there are sockets: a node has several for
//   each neighbour.
#ifndef BANYAN_RUNTIME_TRANSPORT_SOCKET_POLLER_H_
#define BANYAN_RUNTIME_TRANSPORT_SOCKET_POLLER_H_

#include <set>
#include <thread>
#include <utility>

#include "core/ids.h"
#include "core/time.h"
#include "posix/file_descriptor.h"
#include "zmq.hpp"

namespace banyan {

// What a socket and its poller tell each other: whether the socket is to be asked for messages, and whether a Send
// since it was asked may have taken the signal of one. SocketPoller sets what is set.
struct SocketReadiness {
  bool may_receive = false;
  bool has_sent = false;
  ConnectionId owner = {};  // the connection that it is part of; 0 where one asks it in any case
};

// Returns how many threads carry and encrypt what sockets send, on a machine with so many `processors` (0: unknown).
// ZeroMQ gives each connection to the thread that has the fewest, so encryption takes as many processors.
int IoThreadsFor(unsigned processors);

class SocketPoller {
 public:
  explicit SocketPoller(int most_sockets, int io_threads = IoThreadsFor(std::thread::hardware_concurrency()));
  SocketPoller(const SocketPoller&) = delete;
  SocketPoller& operator=(const SocketPoller&) = delete;

  zmq::context_t& context() { return context_; }

  // `readiness` lives until Remove, and the descriptor stays open until then. Throws zmq::error_t when the system can
  // watch no more.
  void Add(int fd, SocketReadiness& readiness);
  void Remove(int fd, SocketReadiness& readiness);
  // Has the socket asked for messages.
  void MayReceive(SocketReadiness& readiness) {
    if (!std::exchange(readiness.may_receive, true)) ready_.insert(&readiness);
  }
  // Has the socket asked from time to time, as it has sent.
  void HasSent(SocketReadiness& readiness) {
    if (!std::exchange(readiness.has_sent, true)) sent_.insert(&readiness);
  }
  // Returns the connections of which a socket may receive.
  std::set<ConnectionId> ReadyOwners();

  // Until a socket may receive, `wakeup_fd` is readable, or the deadline. Whether `wakeup_fd` is. REQUIRES: it is the
  // same in every call.
  bool Wait(int wakeup_fd, Timestamp deadline);
  // Has sockets asked that have sent, from time to time. Call once in each turn of the loop.
  void AskAfterSends(Timestamp now);

 private:
  bool Watch(int fd, SocketReadiness* readiness);

  zmq::context_t context_;
  FileDescriptor epoll_;
  std::set<SocketReadiness*> ready_;  // at least those that may receive
  std::set<SocketReadiness*> sent_;
  int wakeup_fd_ = -1;
  Timestamp ask_at_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SOCKET_POLLER_H_
