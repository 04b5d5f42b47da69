// All of a node's neighbours: who is behind which connection, chunks to them and through them, acknowledgements,
// heartbeats. Relays and end-to-end delivery end here: the listener sees only chunks that are for this node.
// Thread-compatible; owned by NodeCore, which outlives it as its listener.
#ifndef BANYAN_NODE_PEER_NETWORK_H_
#define BANYAN_NODE_PEER_NETWORK_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "awareness/link_meter.h"
#include "core/event.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/delivery_tracker.h"
#include "node/detour_selector.h"
#include "node/link_ack_buffer.h"
#include "node/link_prober.h"
#include "node/link_windows.h"
#include "node/peer_link.h"
#include "node/step_context.h"
#include "proto/job_config.h"
#include "proto/message.h"
#include "proto/policy_slice.h"

namespace banyan {

// Connections to neighbours take their ids from here upwards; lower ones are the scheduler's.
inline constexpr ConnectionId kFirstPeerConnection = ConnectionId(16);

class PeerNetwork {
 public:
  // What the listener did with a chunk: every chunk is answered by a delivery ack (of a chunk that came straight from
  // its source within the link ack) or by BUSY, except those that break a rule.
  enum class Verdict : uint8_t { kTaken, kNoRoom, kRefused };

  class Listener {
   public:
    virtual ~Listener() = default;
    // The chunk is for this node; `message.route.source()` has been checked to be the node that its connection says, or
    // a node behind that one.
    virtual Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload) = 0;
    // A neighbour has been silent for `lost_after`; another incarnation of it counts as silence. Said once.
    virtual void OnPeerLost(StepContext& step, NodeId peer, const std::string& reason) = 0;
  };

  struct Identity {
    std::string job;
    Term term;
    NodeId node;
    Incarnation incarnation;
  };
  struct Limits {
    int64_t relay_bytes = 0;           // queued on behalf of others, over all neighbours
    int64_t unknown_bytes = 0;         // from nodes that are not yet known as neighbours
    size_t waiting_control = 1 << 16;  // control messages per neighbour while its connection is down
    size_t inbound_connections = 1 << 14;
    size_t denied_sources = 1 << 12;  // remembered for a grant; others try again without one
    bool loss_limited = false;        // what a connection carries (LinkWindows)
  };

  PeerNetwork(Identity identity, const JobConfig& config, Limits limits, Listener* listener);

  // Opens connections to new neighbours; what they have sent already is handled now. Chunks of this policy may take its
  // detours from now on. The newest policy says whether and how links are measured.
  void AddPolicy(StepContext& step, const PolicySlice& slice);
  // No chunk of a policy below this is sent any more.
  // Policies below `oldest` govern no round any more: what only they named need not be heard of.
  void RetirePolicies(PolicyVersion oldest, Timestamp now);
  bool IsNeighbour(NodeId node) const { return neighbours_.count(node) > 0; }
  // For log lines and errors: the name, or "node 7" when unknown.
  std::string NameOf(NodeId node) const;

  // Sends a chunk that this node made along `message.route`, its primary path, or a detour between the same ends, and
  // keeps it until its destination has acknowledged it. REQUIRES: route.hop is 0 and route.receiver() is a neighbour.
  void SendChunk(StepContext& step, ChunkMessage message, Payload payload);
  // There is room again for sources that were answered BUSY.
  void GrantRoom(StepContext& step);
  // Sends no chunk of a round again that is closed everywhere.
  void DropRound(KeyId key, Round round);
  // Forgets everything that waits for delivery: the job has failed.
  void DropChunks();

  void OnConnectionUp(StepContext& step, ConnectionId connection);
  void OnConnectionDown(StepContext& step, ConnectionId connection);
  void OnMessage(StepContext& step, MessageReceived received);
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const { return std::min({next_tick_, next_hedge_, next_acks_}); }

  std::vector<NodeReport::Link> LinkReport(Timestamp now) const;
  // How a round went on the link to a neighbour.
  struct LinkRound {
    NodeId neighbour;
    int64_t sent_bytes = 0;  // with headers, without resends
    absl::Duration busy;     // with a chunk on its way
    bool resent = false;     // something had to be sent again
  };
  // A round of some key is complete here; the first of each number ends the time that busy_share is of, and tells how
  // that went on each link (nothing for the others).
  std::vector<LinkRound> OnRoundComplete(Round round, Timestamp now);
  int64_t undelivered_bytes() const { return tracker_.kept_bytes(); }
  int64_t relay_bytes() const;
  int64_t unknown_bytes() const { return unknown_bytes_; }

 private:
  struct Neighbour {
    NeighbourSlice slice;
    ConnectionId control;
    bool control_up = false;
    std::deque<Message> waiting;  // while control is down
    PeerLink link;
    Timestamp last_heard;
    Timestamp last_heartbeat;  // that was sent
    LinkMeter meter;
    std::optional<PeerHeartbeat::Echo> echo = std::nullopt;  // of its newest heartbeat, until the next one takes it
    LinkAckBuffer acks = {};                                 // of its chunks
    bool lost = false;
    PolicyVersion newest_policy = PolicyVersion(0);  // that names it
    PeerLink::Counters before_round = {};
    double busy_share = 0;  // of the last round
    // What the link has done of late at best, for choosing detours; 0 when unknown.
    double fastest_bps = 0;
    Timestamp measured_at = {};
  };

  void UseSettings(const PolicySlice& slice);
  void AddNeighbour(StepContext& step, const NeighbourSlice& neighbour, PolicyVersion policy);
  void HandleEarly(StepContext& step, NodeId node);
  void OnHello(StepContext& step, ConnectionId connection, const PeerHello& hello);
  void OnChunk(StepContext& step, NodeId from, ChunkMessage message, Payload payload);
  void OnChunkForHere(StepContext& step, NodeId from, LinkAck::Entry receipt, ChunkMessage message, Payload payload);
  void Relay(StepContext& step, NodeId from, ChunkMessage message, Payload payload);
  void OnLinkAck(StepContext& step, NodeId from, const LinkAck& ack);
  void OnHeartbeat(StepContext& step, NodeId from, const PeerHeartbeat& heartbeat);
  // Forwards a routed control message, or gives it to this node's tracker when it has arrived.
  template <typename Routed>
  void OnRouted(StepContext& step, NodeId from, Routed message);
  void OnDelivered(StepContext& step, NodeId destination, const ChunkId& chunk);
  void Arrived(StepContext& step, const DeliveryAck& ack);
  void Arrived(StepContext& step, const Busy& busy);
  void Arrived(StepContext& step, const Grant& grant);
  void Dispatch(StepContext& step, NodeId from, Message message, Payload payload);
  void KeepUnknown(StepContext& step, NodeId from, MessageReceived& received);

  // Sends `chunk`'s DeliveryAck or Busy back along the part of its route that it has come.
  template <typename Answer>
  void AnswerChunk(StepContext& step, const ChunkMessage& chunk);
  void AnswerBusy(StepContext& step, const ChunkMessage& chunk);
  // Sends the link ack of a chunk from there, now or with the next one (peer_network_acks.cc).
  void Acknowledge(StepContext& step, NodeId from, const LinkAck::Entry& receipt, bool may_wait);
  void SendDueAcks(StepContext& step);
  // Remembers the way back for a Grant.
  void Deny(std::map<NodeId, SourceRoute>& denied, const ChunkMessage& chunk);
  // After the link acks that wait, if any. Nothing where `to` is no neighbour.
  void SendControl(StepContext& step, NodeId to, Message message);
  // Now, or when the control connection is there.
  void Transmit(StepContext& step, Neighbour& neighbour, Message message);
  void Resend(StepContext& step, DeliveryTracker::Undelivered chunk);

  // Detours (peer_network_detours.cc).
  void HandToLink(StepContext& step, ChunkMessage message, Payload payload, bool resend);
  // `first` is the first hop of the message's primary path.
  int64_t PrimaryLoad(const Neighbour& first, const ChunkMessage& message) const;
  bool HasRoom(NodeId neighbour) const;
  void LookAtMeter(Neighbour& neighbour, Timestamp now) const;
  const DetourSelector::Path* DetourFor(const Neighbour& first, const ChunkMessage& message, int64_t size_bytes,
                                        Timestamp now) const;
  // Sends a copy of the chunk over a detour that is to be measured, if one is.
  void MaybeProbe(StepContext& step, const ChunkMessage& message, const Payload& payload);
  // Gives chunks that wait for a busy primary path to detours that have room again.
  void FillDetours(StepContext& step);
  void SendOnPrimary(StepContext& step, ChunkMessage message, Payload payload);
  // The last connection to a neighbour is gone: what was to take a detour over it takes another way.
  void ReturnDetoured(StepContext& step, Neighbour& neighbour);

  void Pump(StepContext& step, Neighbour& neighbour);
  PeerLink::Options LinkOptions(NodeId neighbour) const;
  // To those of the policies that live.
  void ResizeWindows(Timestamp now);
  void CheckHeartbeat(StepContext& step, NodeId node, Neighbour& neighbour);
  void GrantRelayRoom(StepContext& step);
  PeerHello Hello() const;

  Identity identity_;
  JobConfig config_;
  Limits limits_;
  Listener* listener_;

  std::map<NodeId, Neighbour> neighbours_;
  std::map<ConnectionId, NodeId> outbound_;  // control and data
  std::map<ConnectionId, PeerHello> inbound_;
  uint64_t next_connection_;
  DeliveryTracker tracker_;
  LinkWindows windows_;
  DetourSelector detours_;
  LinkProber prober_;
  PolicyVersion newest_policy_;
  PolicyVersion oldest_policy_;        // that is not retired
  TransmissionSettings transmission_;  // of the newest policy
  // What came from nodes before this node's slice of the policy named them.
  std::map<NodeId, std::deque<MessageReceived>> unknown_;
  int64_t unknown_bytes_ = 0;
  // Routes back to sources that were answered BUSY: by this node for itself, and as a relay.
  std::map<NodeId, SourceRoute> denied_;
  std::map<NodeId, SourceRoute> denied_relays_;
  // Chunks that wait here to be forwarded, or were and have no link ack yet, by the neighbour they came from.
  std::map<NodeId, uint32_t> relayed_chunks_;
  std::optional<Round> newest_complete_;  // of any key
  Timestamp newest_complete_at_;
  // One tick serves heartbeats, silence and overdue acks, so that no Step looks at all neighbours for its deadline.
  absl::Duration tick_;
  Timestamp next_tick_ = kNever;
  // Not after any link may have something to hedge.
  Timestamp next_hedge_ = kNever;
  // Not after any link ack is to go that waits for another.
  Timestamp next_acks_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEER_NETWORK_H_
