// Sends the chunks that this node made, each on its primary path or on an auxiliary path. Those that wait for a busy
// primary path are moved to auxiliary paths that have room. Joins the choice (AuxiliarySelector), the probes of links
// that no tree uses (LinkProber), and the queues of the links. Thread-compatible; owned by PeerNetwork.
//
// Invariants:
//   1. A chunk is on one path at a time, and the tracker knows which. A probe is a copy that nothing waits for.
//   2. Only chunks that this node made change their path.
//   3. A chunk that went out before, such as one that an auxiliary path has failed, takes the primary path and stays
//      there, however busy that is. Only when nothing moves there may it try an auxiliary path again.
#ifndef BANYAN_NODE_PEERS_AUXILIARY_PATHS_H_
#define BANYAN_NODE_PEERS_AUXILIARY_PATHS_H_

#include <cstdint>

#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/peers/auxiliary_selector.h"
#include "node/peers/delivery_tracker.h"
#include "node/peers/link_prober.h"
#include "node/peers/neighbour_table.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "proto/policy_slice.h"

namespace banyan {

class AuxiliaryPaths {
 public:
  // `self` is this node. `neighbours` and `tracker` outlive the paths.
  AuxiliaryPaths(NodeId self, NeighbourTable* neighbours, DeliveryTracker* tracker)
      : neighbours_(neighbours), tracker_(tracker), selector_(self) {}

  // Learns the paths of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below `oldest`.
  void RetirePolicies(PolicyVersion oldest);

  // Sends a chunk that the tracker keeps already on the path in its route. Where a link is to be measured, a copy goes
  // over that. REQUIRES: the receiver is a neighbour.
  void Send(StepContext& step, ChunkMessage message, Payload payload);
  // Sends a chunk again: on its path if that is the primary one, else on the primary one.
  void Resend(StepContext& step, DeliveryTracker::Undelivered chunk);
  // Sends a chunk again that a relay on its auxiliary path has refused: on the primary one.
  void OnRefused(StepContext& step, DeliveryTracker::Undelivered chunk);
  // Sends a chunk again, on the primary path of its policy.
  void SendOnPrimary(StepContext& step, ChunkMessage message, Payload payload);
  // Moves chunks that wait for busy primary paths to auxiliary paths that have room.
  void Fill(StepContext& step);

  // Notes that `chunk` has arrived, or is given up.
  void OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now);
  void OnDropped(NodeId destination, const ChunkId& chunk) { selector_.OnDone(destination, chunk); }
  // Forgets what is on its way.
  void DropChunks() { selector_.Clear(); }
  // Looks at the neighbour's meter if that was not done of late.
  void LookAtMeter(Neighbour& neighbour, Timestamp now) const;

  const AuxiliarySelector& selector() const { return selector_; }

 private:
  using Path = AuxiliarySelector::Path;

  // Puts a chunk into the queue of the link to its receiver. `resend` when it went out before.
  void HandToLink(StepContext& step, ChunkMessage message, Payload payload, bool resend);
  // Sends a copy of the chunk over an auxiliary path that is to be measured, if one is.
  void MaybeProbe(StepContext& step, const ChunkMessage& message, const Payload& payload);
  // Moves what waits for the link to `first`, until nothing more wants to or finds room.
  void FillFrom(StepContext& step, Neighbour& first);
  // Returns an auxiliary path for a chunk in the queue of the link to `first`, where its primary path begins; null when
  // none is better. `is_stuck`: nothing moves on that link.
  const Path* PathFor(const Neighbour& first, bool is_stuck, const PeerLink::Queued& chunk, Timestamp now) const;
  // Returns the bytes before such a chunk on its primary path.
  int64_t PrimaryLoad(const Neighbour& first, const ChunkMessage& message) const;
  // Returns whether the link to `node` is there and would send a chunk at once.
  bool HasRoom(NodeId node) const;

  NeighbourTable* neighbours_;
  DeliveryTracker* tracker_;
  AuxiliarySelector selector_;
  LinkProber prober_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_AUXILIARY_PATHS_H_
