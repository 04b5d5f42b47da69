// All of a node's neighbours, as the rest of the node sees them: it sends chunks, takes chunks, and learns who is lost.
// Dispatches to NeighbourTable (connections), Relay (chunks of others) and ChunkSender (chunks that this node made).
// Thread-compatible; owned by NodeCore, which outlives it as its listener.
//
// Invariants:
//   1. The listener sees only chunks that are for this node.
//   2. Every chunk that follows the rules gets a link ack, and then a delivery ack or BUSY unless a relay forwards it.
//      The delivery ack of a chunk that came straight from its source travels within the link ack.
//   3. A chunk that this node made is kept until its destination has it, or its round is closed everywhere.
#ifndef BANYAN_NODE_PEERS_PEER_NETWORK_H_
#define BANYAN_NODE_PEERS_PEER_NETWORK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/peers/chunk_answers.h"
#include "node/peers/chunk_sender.h"
#include "node/peers/link_windows.h"
#include "node/peers/neighbour_table.h"
#include "node/peers/relay.h"
#include "node/step_context.h"
#include "node/trim/trimmer.h"
#include "proto/job_config.h"
#include "proto/message.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"
#include "protocol/event.h"
#include "tracing/round_recorder.h"

namespace banyan {

class PeerNetwork {
 public:
  // What the listener did with a chunk: took it, had no room for it, or refused it because it breaks a rule.
  enum class Verdict : uint8_t { kTaken, kNoRoom, kRefused };

  class Listener {
   public:
    virtual ~Listener() = default;
    // Takes a chunk that is for this node. Its source has been checked to be the node that its connection says, or a
    // node behind that one.
    virtual Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload) = 0;
    // Takes a message about a training state that is for this node.
    virtual void OnStateMessage(StepContext& step, const Message& message) = 0;
    // Learns, once in each silence, that a neighbour has been silent for `lost_after`, that it cannot be reached, that
    // no chunk passes to it, or that it sends what does not decode. Another incarnation of it counts as silence.
    virtual void OnPeerLost(StepContext& step, const PeerLost& lost) = 0;
  };

  using Identity = NeighbourTable::Identity;
  using LinkRound = banyan::LinkRound;
  struct Limits {
    int64_t relay_bytes = 0;           // queued on behalf of others, over all neighbours
    int64_t unknown_bytes = 0;         // from nodes that are not yet known as neighbours
    size_t waiting_control = 1 << 16;  // control messages per neighbour while its connection is down
    size_t inbound_connections = 1 << 14;
    size_t denied_sources = 1 << 12;  // remembered for a grant; others try again without one
    bool loss_limited = false;        // the congestion control takes each loss for a full queue
  };
  // Returns the limits that the job's settings ask for, or those by default.
  static Limits LimitsOf(const JobConfig& config, bool loss_limited);

  // What happens in rounds that are traced is noted in `recorder`. The pointers outlive this.
  PeerNetwork(Identity identity, const JobConfig& config, Limits limits, Listener* listener, RoundRecorder* recorder);
  PeerNetwork(const PeerNetwork&) = delete;
  PeerNetwork& operator=(const PeerNetwork&) = delete;

  RoundRecorder& recorder() const { return *recorder_; }
  // Notes there what is known of all neighbours' clocks; their heartbeats do so one by one.
  void NoteClocks(Timestamp now) const {
    for (const auto& [node, neighbour] : neighbours_) NoteClock(neighbour, now);
  }

  // Opens connections to new neighbours; handles what they have sent already. Chunks of this policy may take its
  // auxiliary paths from now on. The newest policy says whether and how links are measured.
  void AddPolicy(StepContext& step, const PolicySlice& slice);
  // Forgets policies below `oldest`, which govern no round any more: what only they named need not be heard of.
  void RetirePolicies(PolicyVersion oldest, Timestamp now);
  // Returns the neighbours that were found lost and have not been heard, or sent an ack, since.
  std::vector<PeerLost> LostNeighbours(Timestamp now) const;
  bool IsNeighbour(NodeId node) const { return neighbours_.Find(node) != nullptr; }
  // Returns the name for log lines and errors, "node 7" when unknown.
  std::string NameOf(NodeId node) const { return neighbours_.NameOf(node); }

  // Sends a chunk that this node made along `message.route`, its primary path, or an auxiliary path between the same
  // ends. Keeps it until its destination has acknowledged it. REQUIRES: route.hop is 0, route.receiver() a neighbour.
  void SendChunk(StepContext& step, ChunkMessage message, Payload payload);
  // Sends a message with a route to the next node on it, if that is a neighbour.
  template <typename Routed>
  void SendOn(StepContext& step, Routed message) {
    const NodeId next = message.route.receiver();
    neighbours_.Send(step, next, std::move(message));
  }
  // Tells sources that were answered BUSY that there is room again.
  void GrantRoom(StepContext& step);
  // Tells `source` that there is room for this chunk, if that was refused.
  void GrantChunk(StepContext& step, NodeId source, const ChunkId& chunk);
  // Drops the chunks of a round that is closed everywhere: they are not sent again.
  void DropRound(KeyId key, Round round) { sender_.DropRound(key, round); }
  // Forgets everything that waits for delivery: the job has failed.
  void DropChunks() { DropChunks(Epoch(UINT64_MAX)); }
  // The former epoch is over: drops all chunks, and relays none of it any more.
  void BeginEpoch(Epoch epoch);

  void OnConnectionUp(StepContext& step, ConnectionId connection) { neighbours_.OnConnectionUp(step, connection); }
  void OnConnectionDown(StepContext& step, ConnectionId connection);
  void OnConnectFailed(StepContext& step, ConnectionId connection, const std::string& reason) {
    neighbours_.OnConnectFailed(step, connection, reason);
  }
  void OnOvertook(ConnectionId connection, uint64_t times) { neighbours_.OnOvertook(connection, times); }
  void OnMessage(StepContext& step, MessageReceived received);
  // Notes that what came on `connection` does not decode. A neighbour of whom the same comes twice would send it for
  // ever, and is lost.
  void OnRejected(StepContext& step, ConnectionId connection, const absl::Status& reason);
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const { return std::min(next_tick_, neighbours_.NextDeadline()); }

  // Returns what each link did so far, and its measurement while the newest policy has links measured.
  std::vector<NodeReport::Link> LinkReport(Timestamp now) const;
  // Notes that a round of `key` is complete here, one of `keys`. The last key of a step ends it, and tells how it went
  // on each link; the first step tells of none. Empty while the step goes on. A step is over when all keys have a
  // result, or all that had one in the step before, or one of them has its next: keys may be pushed seldomer than
  // others, and begin when others have done thousands of rounds.
  std::optional<std::vector<LinkRound>> OnRoundComplete(KeyId key, Round round, size_t keys, Timestamp now);
  int64_t undelivered_bytes() const { return sender_.tracker().kept_bytes(); }
  int64_t relay_bytes() const { return relay_.size_bytes(); }
  int64_t unknown_bytes() const { return neighbours_.unknown_bytes(); }

 private:
  // Drops all chunks but those of unknown senders of `first_kept` or a later epoch.
  void DropChunks(Epoch first_kept);
  void UseSettings(const PolicySlice& slice);
  // Gives every link, or that to one neighbour, the window that the live policies want and what it has shown allows.
  void ResizeWindows(Timestamp now);
  void ResizeWindow(Neighbour& neighbour, Timestamp now);
  void Dispatch(StepContext& step, Neighbour& from, Message message, Payload payload);
  void OnChunk(StepContext& step, Neighbour& from, ChunkMessage message, Payload payload);
  void OnChunkForHere(StepContext& step, Neighbour& from, LinkAck::Entry receipt, ChunkMessage message,
                      Payload payload);
  void OnLinkAck(StepContext& step, Neighbour& from, const LinkAck& ack);
  // Takes what the meter of a link has found out.
  void LookAtMeter(Neighbour& from, Timestamp now);
  // Notes what is known of the neighbour's clock.
  void NoteClock(const Neighbour& neighbour, Timestamp now) const;
  // Notes that the neighbour has a copy of a chunk, which its link has given back for the link ack `entry`.
  void OnReceived(Neighbour& from, const PeerLink::Sent& sent, const LinkAck::Entry& entry, Timestamp now);
  void OnHeartbeat(Neighbour& from, const PeerHeartbeat& heartbeat, Timestamp now);
  // Forwards a routed control message, or hands it to Arrived when it is for this node.
  template <typename Routed>
  void OnRouted(StepContext& step, Neighbour& from, Routed message);
  void Arrived(StepContext& step, const DeliveryAck& ack);
  void Arrived(StepContext& step, const Busy& busy) { sender_.OnBusy(step, busy); }
  void Arrived(StepContext& step, const Grant& grant) { sender_.OnGrant(step, grant); }
  template <typename OfAState>
  void Arrived(StepContext& step, const OfAState& message) {
    listener_->OnStateMessage(step, message);
  }
  // Finds other ways for what was to take an auxiliary path over a neighbour whose last connection is gone.
  void ReturnAuxiliary(StepContext& step, Neighbour& neighbour);
  // Returns whether a step is over with the result of this key.
  bool EndsStep(KeyId key, size_t keys);
  void BeginStep();
  void CheckPresence(StepContext& step, Neighbour& neighbour);
  PeerLost LossOf(const Neighbour& neighbour) const;
  static PeerLost BlockOf(const Neighbour& neighbour, Timestamp now);
  static PeerLost OutOfReach(const Neighbour& neighbour);

  const JobConfig config_;
  Listener* listener_;
  RoundRecorder* const recorder_;

  Trimmer trimmer_;
  NeighbourTable neighbours_;
  ChunkSender sender_;
  Relay relay_;
  DeniedSources denied_;  // by this node, for itself
  LinkWindows windows_;
  Epoch epoch_;  // that has begun last
  PolicyVersion newest_policy_;
  TransmissionSettings transmission_;  // of the newest policy
  std::set<KeyId> in_step_;            // keys that have a result in this step
  std::set<KeyId> in_last_step_;
  size_t awaited_ = 0;                   // of these, which have none yet in this step
  std::optional<Timestamp> step_ended_;  // the last one
  // One tick serves heartbeats, silence and overdue acks, so that no Step looks at all neighbours for its deadline.
  absl::Duration tick_;
  Timestamp next_tick_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_PEER_NETWORK_H_
