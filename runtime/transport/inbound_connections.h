// The connections that others open to this process: one ROUTER socket, whose routing ids are turned into ConnectionIds.
// A peer that chose its own routing id is refused: everything from it is rejected. One whose connection is closed is
// told to go away; where it does not, or does not read, its TCP connection is ended. Thread-compatible; used by the
// protocol thread only.
#ifndef BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_
#define BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "core/time.h"
#include "runtime/transport/connection_security.h"
#include "runtime/transport/polled_socket.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_limits.h"
#include "runtime/transport/socket_monitor.h"
#include "runtime/transport/socket_poller.h"
#include "runtime/transport/stranger_rates.h"
#include "runtime/transport/tcp_endpoint.h"
#include "zmq.hpp"

namespace banyan {

// The TCP connections that a ROUTER socket has accepted, by their descriptors: which of them have ended, and the means
// to end one. ZeroMQ owns the descriptors and gives neither. Thread-compatible: used by the thread that owns the
// watched socket, and destroyed before it.
//
// Invariants:
// - ZeroMQ reports the end of a connection before it closes the descriptor, whose number may then be another one's. So
//   what no report has ended is what its number still names.
class AcceptedSockets {
 public:
  // `poller` and `router` outlive this; `router` does not listen yet. With `encrypts` frames are longer on the wire,
  // and strangers are held back. Throws zmq::error_t when the process has no socket left.
  AcceptedSockets(SocketPoller& poller, zmq::socket_t& router, const SocketLimits& limits, bool encrypts);

  // Reads what has been reported. Returns whether anything was, since the last call: what the connections brought is
  // there then, whether or not its signal has been seen.
  bool Watch();
  // Whether Watch would return true: another method has read a report.
  bool has_news() const { return has_news_; }
  // Says that the first message of the connection `route`, a routing id, has come on `fd`; -1 where that is not known.
  void Name(const std::string& route, int fd);
  // Counts a message of the connection `route`, all of which has been read now.
  void CountRead(const std::string& route, int fd, const std::vector<zmq::message_t>& frames);
  // Returns how many have begun as no peer of this process does since the last call: without keys where they are asked
  // for, or with bytes that are not ZeroMQ's. ZeroMQ has ended them.
  int TakeMalformed() { return std::exchange(malformed_, 0); }
  // Returns the named connections that have ended, each once.
  std::vector<std::string> TakeEnded();

  // Ends the connection `route`, unless it has ended: what waits on it in either direction is dropped.
  void End(const std::string& route, int fd);
  // Ends connections of which ZeroMQ keeps too much, and returns how many: more than `most_bytes` of one, or together
  // more than `most_of_strangers` of all that have not brought one message yet, of these the largest. To be called when
  // every whole message has been read: then it keeps nothing but parts. It does so for ever, as none of its own limits
  // is on the parts of a message. Where it `looks_at_all`; else it looks at strangers alone.
  int EndHoarders(int64_t most_bytes, int64_t most_of_strangers, bool looks_at_all);
  // Returns whether the last EndHoarders of all has found a connection of which ZeroMQ keeps parts of a message.
  bool holds_parts() const { return holds_parts_; }
  // Ends connections of strangers, which have brought no message yet, until no more than `most` are left; returns how
  // many. The oldest of the host that has most of them goes first.
  int EndCrowd(size_t most);
  size_t strangers() const { return strangers_; }
  // When HoldBack wants to be called.
  Timestamp hold_back_at() const { return cannot_hold_back_ ? kNever : rates_.next_deadline(); }
  // Has the kernel let in a part of those who try to connect, where too many prove no key. Returns, in words, what has
  // begun to be held back.
  std::vector<std::string> HoldBack(Timestamp now);
  bool empty() const { return open_ == 0; }

 private:
  struct Accepted {
    std::string route = {};  // once a message has been read
    bool has_ended = false;  // the last of all with this descriptor
    bool is_ending = false;  // by EndIfStillThere, and not reported yet
    int64_t read_bytes = 0;
    uint64_t ordinal = 0;                 // of this connection among all
    std::optional<HostPrefix> host = {};  // at the other end

    bool IsStranger() const { return ordinal > 0 && !has_ended && !is_ending && route.empty(); }
  };

  void Read();
  // Ends connections on unix sockets from other users: on those nothing tells how much ZeroMQ keeps.
  void EndOtherUsers(const std::vector<int>& accepted);
  void OnAccepted(int fd);
  void OnDisconnected(Accepted& socket);
  // Returns whether the connection with this ordinal was still there, and was not being ended already.
  bool EndIfStillThere(int fd, uint64_t ordinal);

  SocketMonitor monitor_;
  std::map<int, Accepted> sockets_;  // by descriptor
  std::vector<std::string> ended_;
  uint64_t next_ordinal_ = 1;
  bool has_news_ = false;
  int malformed_ = 0;
  const bool encrypts_;
  StrangerRates rates_;
  std::vector<int> listening_;     // descriptors
  bool cannot_hold_back_ = false;  // the kernel does not let us
  bool holds_parts_ = false;
  size_t open_ = 0;       // as reported
  size_t strangers_ = 0;  // of these, those that have brought no message and are not being ended
};

class InboundConnections {
 public:
  // Who comes in: anybody, or owners of listed keys where keys are asked for; or anybody to a data port, which asks for
  // tickets itself.
  enum class Use { kEverything, kDataPort };
  struct Received {
    ConnectionId connection;
    bool refused = false;  // from a peer that chose its routing id
    bool closed = false;   // on a connection that was closed: to be ignored
    // Whose first message this is: the host that it comes from, empty when that is not known.
    std::optional<std::string> accepted_from;
    std::string public_key;  // and with which key, as listed; empty without keys
    ReceivedFrames message;  // without the routing id
  };

  // Listens on all that the address leads to, or with port 0 on the first of it that can be had. Errors name the
  // address and what is wrong with it. A host name is looked up, which may block. `poller` outlives this.
  static absl::StatusOr<std::unique_ptr<InboundConnections>> Bind(SocketPoller& poller, const std::string& address,
                                                                  const SocketLimits& limits, Use use,
                                                                  const ConnectionSecurity* security);
  // `security`, null where keys are not asked for, outlives this.
  InboundConnections(SocketPoller& poller, std::unique_ptr<PolledSocket> socket, const SocketLimits& limits,
                     const ConnectionSecurity* security);

  // The first of all, with the real port.
  const std::string& bound_address() const { return bound_address_; }

  // The next message that waits.
  std::optional<Received> Receive();
  // Sees who has gone. Call before reading until Receive gives nothing.
  void Watch();
  // Connections of which Watch has seen the end, to be asked for once Receive gave nothing: then all they sent has been
  // read.
  std::vector<ConnectionId> TakeLost();

  // Returns how many were not let in since the last call because of how they began.
  int TakeMalformed() { return accepted_.TakeMalformed(); }

  bool Exists(ConnectionId connection) const;
  // Returns the key with which the connection came in; empty for none.
  absl::string_view KeyOf(ConnectionId connection) const;
  // Returns the connections whose key is not listed any more.
  std::vector<ConnectionId> Unlisted() const;
  // kNoRoute for an unknown connection.
  SendResult Send(ConnectionId connection, std::vector<zmq::message_t>& frames);
  // Tells the opener to go away, for `reason`, after all that was sent before. What comes on it from now on is ignored.
  // An opener that has not gone by the limits' linger loses the connection, and one whose queue is full does at once.
  void Close(ConnectionId connection, absl::string_view reason, Timestamp now);
  // The opener is about to go. If it has not by the limits' linger, it loses the connection.
  void Leave(ConnectionId connection, Timestamp now);
  // Ends the connection without a word. What comes on it from now on is ignored.
  void Drop(ConnectionId connection);

  // When Watch, EndOverdue or HoldBack wants to be called.
  Timestamp next_deadline() const;
  // Ends connections that should have gone by now, those of a crowd of strangers, and those that leave too much for
  // ZeroMQ to keep; returns how many there were of the latter two. Call when Receive gave nothing, and after TakeLost.
  int EndOverdue(Timestamp now);
  // Holds back hosts of which too many connections prove no key. Returns, in words, what has begun to be held back.
  std::vector<std::string> HoldBack(Timestamp now) { return accepted_.HoldBack(now); }

 private:
  struct Peer {
    ConnectionId connection;
    int fd = -1;
    bool refused = false;
    bool closed = false;
    std::string public_key = {};
  };
  struct Leaving {
    std::string route;
    Timestamp deadline;
  };

  // OK when it listens on at least one of these, and none of their ports is taken.
  absl::Status BindTo(const std::string& address, const std::vector<TcpEndpoint>& endpoints);
  // Listens on the unix sockets beside what it is bound to, as far as their names are free.
  void BindUnixSockets();
  Peer& Find(const std::string& route, int fd);
  void Forget(const std::string& route);
  void End(const std::string& route);
  // Ends the connection when the limits' linger is over.
  void Await(const std::string& route, Timestamp now);
  // When to look for hoarders and crowds; `at_rest` after the last look where nothing calls for one.
  Timestamp LookAt(absl::Duration at_rest) const;

  std::unique_ptr<PolledSocket> socket_;
  AcceptedSockets accepted_;
  const SocketLimits limits_;
  const ConnectionSecurity* const security_;
  std::string bound_address_;
  ConnectionId next_ = kInboundConnection;
  std::map<std::string, Peer> peers_;           // by routing id
  std::map<ConnectionId, std::string> routes_;  // to routing ids
  std::deque<Leaving> leaving_;                 // by deadline
  Timestamp last_look_;                         // for hoarders
  Timestamp looked_at_all_;                     // that of the last one at more than strangers
  bool is_crowded_ = false;                     // the next look is due
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_
