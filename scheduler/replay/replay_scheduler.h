// In the scheduler's place where a training is run again from transcripts: tells the nodes what the scheduler told them
// then. It plans nothing, keeps no records, and knows no change of membership: whoever goes ends the replay.
// Thread-compatible; owned by exactly one driver.
//
// Invariants:
// - Nobody hears of a key or a policy before all nodes have joined.
// - It stops with OK once all nodes have finished, and else with the reason of the first that could not go on.
#ifndef BANYAN_SCHEDULER_REPLAY_REPLAY_SCHEDULER_H_
#define BANYAN_SCHEDULER_REPLAY_REPLAY_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/message.h"
#include "proto/transcript/node_transcript.h"
#include "protocol/protocol.h"

namespace banyan {

// The transcripts of all nodes of one job, which a replay needs together. Immutable; thread-safe.
class ReplayCast {
 public:
  using Transcript = std::shared_ptr<const NodeTranscript>;

  // FAILED_PRECONDITION when these are not the transcripts of all nodes of one job: of which node one is missing or
  // there are two, or where they contradict each other.
  static absl::StatusOr<ReplayCast> Create(const std::vector<Transcript>& transcripts);

  // By number.
  const std::map<NodeId, Transcript>& nodes() const { return nodes_; }
  // Null for a name that no node has.
  const NodeTranscript* Find(const std::string& name) const;
  // The key table: of the node that has seen most of it.
  const std::vector<KeySlice>& keys() const { return keys_; }
  const std::string& job() const { return nodes_.begin()->second->joined.config.job; }

 private:
  std::map<NodeId, Transcript> nodes_;
  std::vector<KeySlice> keys_;
};

class ReplayScheduler : public Protocol {
 public:
  // How long it waits at the end for nodes that have not gone.
  static constexpr absl::Duration kFarewell = absl::Seconds(5);

  explicit ReplayScheduler(ReplayCast cast) : cast_(std::move(cast)) {}

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override { return ends_at_; }

 private:
  struct Node {
    std::optional<ConnectionId> connection;
    std::string address;
    Incarnation incarnation;
    std::set<PolicyVersion> published;
    bool has_left = false;
  };

  void OnMessage(ConnectionId connection, const Message& message);
  void OnJoin(ConnectionId connection, const Join& join);
  // All have joined.
  void Begin();
  void OnGone(ConnectionId connection);

  void On(NodeId node, const Heartbeat& heartbeat) { Say(node, HeartbeatReply{kTerm, heartbeat.sent_at}); }
  void On(NodeId node, const RegisterKeys& keys);
  void On(NodeId node, const PolicyRequest& request);
  void On(NodeId node, const RoundsClosed& closed);
  void On(NodeId node, const BarrierEntered& entered);
  void On(NodeId node, const StateWanted& wanted);
  void On(NodeId node, const WaitQuestion& question);
  void On(NodeId node, const WorkerLost& lost) { Fail(Named(node, lost.reason)); }
  void On(NodeId node, const PeerLost& lost) { Fail(Named(node, lost.reason)); }
  void On(NodeId node, const RoundBroken& broken) { Fail(Named(node, broken.reason)); }
  void On(NodeId node, const Leave& leave);

  // Gives the node its part of a policy, once.
  void Publish(NodeId node, PolicyVersion version);
  // `reason`, as one of the node.
  std::string Named(NodeId node, const std::string& reason) const;
  // Ends the replay for all nodes. Only the first reason counts.
  void Fail(const std::string& reason);
  void Say(NodeId node, Message message);
  void SayToAll(const Message& message);
  bool HasBegun() const { return nodes_.size() == cast_.nodes().size(); }

  static constexpr Term kTerm = Term(1);

  const ReplayCast cast_;
  Timestamp now_;
  Actions actions_;
  std::map<NodeId, Node> nodes_;  // that have joined
  std::map<std::pair<KeyId, Round>, std::set<NodeId>> held_;
  std::map<uint64_t, std::set<NodeId>> barriers_;
  Timestamp ends_at_ = kNever;
  absl::Status end_;
  bool has_stopped_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_REPLAY_REPLAY_SCHEDULER_H_
