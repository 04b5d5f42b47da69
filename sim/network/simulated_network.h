// The WAN between simulated processes: directed links with rate, delay and jitter, connections over them that are first
// in first out each for itself, their losses and returns, partitions. Thread-compatible; owned by the simulator.
//
// A connection that is lost loses what is on its way over it, except what would have arrived until a time that the
// fault chooses; its two ends learn of it each in its own time, the accepting end perhaps never. The opener dials again
// after a growing, bounded pause, and the connection comes back with a new inbound id at the accepting end.
//
// An acceptor that closes a connection tells the opener by a message, as the transport does: the opener learns of it
// when the message arrives, and of nothing while the way back is cut. What it sends until then is dropped.
//
// A direction that is cut holds what is sent over it until it is mended or the connection is lost, since a transport
// sends again and again. Nobody can dial while either direction is cut.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_NETWORK_H_
#define BANYAN_SIM_NETWORK_SIMULATED_NETWORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/random.h"
#include "core/time.h"
#include "protocol/action.h"
#include "sim/agenda.h"
#include "sim/network/simulated_connection.h"
#include "sim/network/simulated_link.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

struct NetworkOptions {
  // Delay and jitter between the scheduler and each node, in both directions, at any rate.
  absl::Duration scheduler_delay = absl::Milliseconds(15);
  absl::Duration scheduler_jitter;
  absl::Duration redial_first = absl::Milliseconds(50);
  absl::Duration redial_longest = absl::Milliseconds(250);
  // Payload bytes count this often: the cores carry scaled-down vectors.
  int64_t scale = 1;
  // The chance that a chunk comes twice.
  double duplicate_chance = 0;
};

// The effects of a connection's loss; all times count from the moment of the loss.
struct LossOptions {
  absl::Duration survivors;  // what would arrive within this still does
  absl::Duration opener_notices = absl::Milliseconds(1);
  std::optional<absl::Duration> acceptor_notices;  // empty: never
};

class SimulatedNetwork {
 public:
  // `agenda` and `violations` outlive this.
  SimulatedNetwork(const NetworkOptions& options, uint64_t seed, Agenda* agenda, Violations* violations);

  void AddLink(NodeId from, NodeId to, const LinkOptions& options) { links_.Add(from, to, options); }
  // SimulatedLinks says what these do.
  size_t AddSharedWire(double rate_bps, absl::Span<const std::pair<NodeId, NodeId>> links) {
    return links_.AddSharedWire(rate_bps, links);
  }
  void SetSharedRate(size_t wire, double rate_bps) { links_.SetSharedRate(wire, rate_bps); }
  // 0: without limit.
  void SetHostCaps(NodeId node, double up_bps, double down_bps);
  // Like the scheduler, it needs no links of the overlay.
  void AddScheduler(NodeId scheduler) { schedulers_.insert(scheduler); }
  void AddObserver(TrafficObserver* observer) { observers_.push_back(observer); }

  // A process answers at this address from now on; connections to an earlier life of it are lost.
  void Listen(NodeId process, const std::string& address);
  // The process is gone. `silently`: its host is gone too and nobody is told; otherwise its connections are closed.
  void EndProcess(NodeId process, bool silently);

  // The process answers no dialling until then.
  void StandStill(NodeId process, Timestamp until) { HostOf(process).still_until = until; }

  // These carry out what cores ask for.
  void OpenConnection(NodeId opener, const Connect& connect);
  void CloseConnection(NodeId process, ConnectionId connection);
  void RenewConnection(NodeId opener, const Renew& renew);
  void SetPace(NodeId opener, const Pace& pace);
  // Sends over a connection. What the opener sends before OnUpHandled tells that it has handled the ConnectionUp is
  // dropped.
  void SendMessage(NodeId from, Send send);
  void OnUpHandled(NodeId opener, ConnectionId connection);

  // An event for a process. It comes of what the agenda holds for the network.
  struct Delivery {
    NodeId process;
    Event event;
  };
  std::optional<Delivery> Handle(MessageArrival arrival);
  std::optional<Delivery> Handle(const LossNoticed& notice);
  std::optional<Delivery> Handle(const Dialled& dialled);
  std::optional<Delivery> Handle(const PaceDue& due);

  // Faults.
  // Connections in use between two nodes, or of a node and any other when `other` is empty.
  std::vector<ConnectionIndex> ConnectionsInUse(NodeId node, std::optional<NodeId> other) const;
  std::vector<ConnectionIndex> ConnectionsInUse() const;
  void Lose(ConnectionIndex connection, const LossOptions& loss);
  // Delays what the opener of `connection` sends from now on: it arrives no sooner than `until`, as when the transport
  // recovers from a loss.
  void Stall(ConnectionIndex connection, Timestamp until);
  // Nothing that is sent from now on passes from the one to the other, until Mend. Connections stay, and are silent.
  void Cut(NodeId from, NodeId to);
  void Mend(NodeId from, NodeId to);
  // From now on nothing passes over this connection in these directions, and neither end is told.
  void Silence(ConnectionIndex connection, bool forward, bool backward) {
    connections_[connection].Silence(forward, backward);
  }
  // Of connections from one node to another; the default stops none.
  void PlaceMiddleBox(NodeId from, NodeId to, const MiddleBox& box) { middle_boxes_[{from, to}] = box; }
  // Cuts both directions. Connections are lost; both ends notice after `noticed`.
  void Partition(NodeId a, NodeId b, absl::Duration noticed);
  // Mends both.
  void Heal(NodeId a, NodeId b);
  // nullptr for nodes without a link between them.
  SimulatedLink* FindLink(NodeId from, NodeId to) { return links_.Find(from, to); }
  // Likewise, and what carries their messages to and from the scheduler. Never nullptr.
  SimulatedLink* LinkFor(NodeId from, NodeId to) { return links_.FindOrAdd(from, to); }

  // Every overlay link with what it has carried, in order of (from, to).
  const std::map<std::pair<NodeId, NodeId>, SimulatedLink>& links() const { return links_.overlay(); }

 private:
  using Connection = SimulatedConnection;
  using Direction = SimulatedConnection::Direction;
  using Acceptance = SimulatedConnection::Acceptance;
  using State = SimulatedConnection::State;

  struct Host {
    bool running = false;
    uint32_t life = 0;  // counts its starts
    Timestamp still_until;
    std::string address;
    Serializer up;
    Serializer down;
  };

  using NodePair = std::pair<NodeId, NodeId>;

  Host& HostOf(NodeId node);
  bool Reachable(Connection* connection);
  bool IsCut(NodeId from, NodeId to) const { return cuts_.contains({from, to}); }
  // The process that accepted it still listens on it.
  bool IsHeard(NodeId acceptor, const Acceptance& acceptance);
  void Resolve(Connection* connection);
  void DialLater(ConnectionIndex index);
  std::optional<ConnectionIndex> FindConnection(NodeId process, ConnectionId id, bool* is_opener, bool* is_current);
  // Says that the process uses a connection that it does not have.
  void ReportUse(NodeId process, const char* use, ConnectionId id);
  void CheckUse(const Connection& connection, bool is_opener, const Direction& direction, const Message& message);
  int64_t WireBytes(const Message& message, const Payload& payload) const;
  void NotifySent(ConnectionIndex index, bool to_opener, const Message& message, const Payload& payload);
  void SendForward(ConnectionIndex index, Message message, Payload payload);
  void SchedulePace(ConnectionIndex index);
  void Transmit(ConnectionIndex index, bool to_opener, Message message, Payload payload);
  // Passes on all that waits for the pace of the connection.
  void SendAllPaced(ConnectionIndex index);
  // Tells the opener that the acceptor does not listen on the connection any more.
  void SendGoAway(ConnectionIndex index);
  void Arrive(ConnectionIndex index, MessageArrival arrival, int64_t arrival_ns);
  void ReleaseHeld(ConnectionIndex index, bool to_opener);
  void EndOpened(ConnectionIndex index, bool silently);
  void EndAccepted(ConnectionIndex index);
  bool DelayAtHost(MessageArrival* arrival, NodeId to);
  void MarkLost(ConnectionIndex index, const LossOptions& loss);

  const NetworkOptions options_;
  Random random_;
  Agenda* const agenda_;
  Violations* const violations_;
  std::vector<TrafficObserver*> observers_;
  SimulatedLinks links_;
  std::vector<Host> hosts_;  // by NodeId
  absl::flat_hash_map<std::string, NodeId> addresses_;
  std::vector<Connection> connections_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, ConnectionIndex> outbound_;  // by opener and its id
  std::vector<ConnectionIndex> inbound_;                                          // by id - kInboundConnection
  std::set<NodeId> schedulers_ = {kSchedulerNode};
  std::set<NodePair> cuts_;                     // (from, to)
  std::map<NodePair, MiddleBox> middle_boxes_;  // likewise
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_NETWORK_H_
