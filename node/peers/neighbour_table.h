// The neighbours of a node: who is behind which connection, and what every neighbour is told and asked as time passes.
// Senders that no policy has named yet are known here by their hello alone; what they send waits within a bound.
// Thread-compatible; owned by PeerNetwork.
//
// Invariants:
//   1. A message counts only after a hello on its connection, and only from the incarnation that the policy names. What
//      another incarnation sends waits as that of an unknown sender: the next policy may name it.
//   2. A connection belongs to one node in one incarnation for as long as it lasts.
//   3. Everything of a neighbour is in its Neighbour; the other maps hold ids, and messages of unknown senders.
//   4. Inbound connections, messages that wait and bytes of unknown senders each have a limit. What is above it is
//      refused and counted. Unknown senders share theirs: who sends most gives way.
//   5. NextDeadline() is never later than the next copy of a late chunk, the next link ack that is due, or the time at
//      which a connection counts as stalled.
#ifndef BANYAN_NODE_PEERS_NEIGHBOUR_TABLE_H_
#define BANYAN_NODE_PEERS_NEIGHBOUR_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "awareness/link_meter.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/link_window.h"
#include "node/peers/neighbour.h"
#include "node/step_context.h"
#include "node/trim/trimmer.h"
#include "proto/job_config.h"
#include "proto/message.h"
#include "proto/policy_slice.h"
#include "protocol/event.h"

namespace banyan {

// Connections to neighbours take their ids from here upwards; lower ones are the scheduler's.
inline constexpr ConnectionId kFirstPeerConnection = ConnectionId(64);

// A neighbour that is only restarted is there again within this.
inline constexpr absl::Duration kUnreachableAfter = absl::Seconds(1);

class NeighbourTable {
 public:
  // Says who this node is in a hello, and what it expects of the hello of others.
  struct Identity {
    std::string job;
    Term term;
    NodeId node;
    Incarnation incarnation;
    std::string name = {};  // for those who wanted another node
  };
  struct Limits {
    int64_t unknown_bytes = 0;         // of chunks from nodes that are not yet known as neighbours
    size_t waiting_control = 1 << 16;  // control messages per neighbour while its connection is down
    size_t inbound_connections = 1 << 14;
  };

  // `trimmer`, null for none, cuts what leaves the queues of links, and outlives this.
  NeighbourTable(Identity identity, const JobConfig& config, Limits limits, const Trimmer* trimmer = nullptr);

  // Opens connections to the neighbour of `slice` if it is new; else the newest `policy` that names it decides its
  // slice. One with another incarnation or address is a new one, which takes the place of the former. `window` and
  // `meter` are for a new one.
  void Add(StepContext& step, const NeighbourSlice& slice, PolicyVersion policy, const LinkWindow& window,
           const LinkMeter::Settings& meter);
  // Notes that policies below `oldest` govern no round any more: what only they named need not be heard of.
  void RetirePolicies(PolicyVersion oldest) { oldest_policy_ = std::max(oldest_policy_, oldest); }
  // Closes neighbours that no policy in force has named for a while and to which nothing is on its way. They may come
  // back with the next policy.
  void CloseUnnamed(StepContext& step);
  // Gives away what a start of `node` sent before it was known as a neighbour, to be handled now.
  std::deque<MessageReceived> TakeEarly(NodeId node, Incarnation incarnation);

  // Returns this node.
  NodeId self() const { return identity_.node; }
  // REQUIRES: `node` is a neighbour.
  Neighbour& At(NodeId node) { return neighbours_.at(node); }
  // Returns null when `node` is no neighbour. Neighbours stay where they are.
  Neighbour* Find(NodeId node);
  const Neighbour* Find(NodeId node) const;
  // In the order of their ids.
  auto begin() { return neighbours_.begin(); }
  auto end() { return neighbours_.end(); }
  auto begin() const { return neighbours_.begin(); }
  auto end() const { return neighbours_.end(); }
  bool empty() const { return neighbours_.empty(); }
  // Returns the name for log lines and errors, "node 7" when unknown.
  std::string NameOf(NodeId node) const;

  // Says hello on `connection`, and sends what has waited for it.
  void OnConnectionUp(StepContext& step, ConnectionId connection);
  // Returns the neighbour whose link has lost a connection; null when `connection` carried no chunks.
  Neighbour* OnConnectionDown(StepContext& step, ConnectionId connection);
  // Notes why a connection to a neighbour is not made.
  void OnConnectFailed(StepContext& step, ConnectionId connection, const std::string& reason);
  // Counts packets that have overtaken each other on their way to a neighbour.
  void OnOvertook(ConnectionId connection, uint64_t times);
  // Returns true, once for each policy that names it anew, when a neighbour could not be reached for kUnreachableAfter
  // while a live policy names it.
  bool BecomesUnreachable(Neighbour& neighbour, Timestamp now) const;
  // Has the control connection made anew when heartbeats are not echoed, though nobody says that it is lost.
  void RenewUnechoed(StepContext& step, Neighbour& neighbour) const;
  // Returns the neighbour that has said hello on `connection`; null when nobody has, or another start of it.
  Neighbour* FindOn(ConnectionId connection);
  // Returns the neighbour that sent `received`. Null when there is nothing more to do: it was a hello, is kept until
  // its sender becomes a neighbour, or is rejected.
  Neighbour* FindSender(StepContext& step, MessageReceived& received);

  // Sends a control message, after the link acks that wait. Does nothing where `to` is no neighbour.
  void Send(StepContext& step, NodeId to, Message message);
  // Sends the link ack of a chunk that came `from` there, now or, when it `may_wait`, with the next one.
  void Acknowledge(StepContext& step, Neighbour& from, const LinkAck::Entry& receipt, bool may_wait);
  // Sends chunks on the neighbour's link as its window allows.
  void Pump(StepContext& step, Neighbour& neighbour);
  // Returns true, once, when `neighbour` is lost: silent for too long while a live policy names it.
  bool BecomesLost(Neighbour& neighbour, Timestamp now) const;
  // Sends a heartbeat when it is time for one.
  void SendHeartbeat(StepContext& step, Neighbour& neighbour) const;

  // Sends the link acks that are due, and copies of chunks that are late. Has connections made anew over which no chunk
  // passes, though nobody says that they are lost.
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const { return std::min({next_hedge_, next_acks_, next_stall_}); }
  // Drops all chunks: of every link, and of unknown senders. Of these, what is of `first_kept` or a later epoch stays.
  void DropChunks(Epoch first_kept = Epoch(UINT64_MAX));

  int64_t unknown_bytes() const { return unknown_bytes_; }

 private:
  void Open(StepContext& step, ConnectionId connection, const NeighbourSlice& slice, Channel channel);
  // Closes all connections to the neighbour, and those of this start of it, and forgets it.
  void Close(StepContext& step, NodeId node);
  // Returns the first link sequence of a new link to the neighbour.
  uint64_t FirstSequence(NodeId node) const;
  void OnHello(StepContext& step, ConnectionId connection, const PeerHello& hello);
  // Returns what is wrong with a `hello` on `connection`; empty when nothing is.
  std::string ErrorIn(const PeerHello& hello, ConnectionId connection) const;
  using Sender = std::pair<NodeId, Incarnation>;
  void KeepUnknown(StepContext& step, const Sender& from, MessageReceived& received);
  // Makes room for `size_bytes` of `from`, as long as others hold more than it would then. Nothing that goes is lost:
  // it was not acknowledged. Returns whether there is room.
  bool MakeRoom(const Sender& from, int64_t size_bytes);
  void SendDueAcks(StepContext& step);
  void SendHedges(StepContext& step);
  void RenewStalled(StepContext& step);

  const Identity identity_;
  const JobConfig config_;
  const Limits limits_;
  const Trimmer* trimmer_;

  std::map<NodeId, Neighbour> neighbours_;
  std::map<NodeId, uint64_t> next_sequences_;  // of links that are closed
  std::map<ConnectionId, NodeId> outbound_;    // control and data
  std::map<ConnectionId, PeerHello> inbound_;  // open ones that have said hello
  uint64_t next_connection_ = kFirstPeerConnection.value();
  PolicyVersion oldest_policy_;  // that is not retired
  struct Unknown {
    std::deque<MessageReceived> messages;
    int64_t size_bytes = 0;
  };
  std::map<Sender, Unknown> unknown_;
  int64_t unknown_bytes_ = 0;  // of all of them
  // Not later than any link may have something to hedge, any link ack that waits is due, or a connection is stalled.
  Timestamp next_hedge_ = kNever;
  Timestamp next_acks_ = kNever;
  Timestamp next_stall_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_NEIGHBOUR_TABLE_H_
