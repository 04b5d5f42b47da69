// Sends the chunks that this node made until their destinations have them, each on its primary path or on an auxiliary
// path. Those that wait for a busy primary path are moved to auxiliary paths that have room. Decisions are elsewhere:
// when to send again (DeliveryTracker), which path (AuxiliarySelector), which links that no tree uses to measure
// (LinkProber). Thread-compatible; owned by PeerNetwork.
//
// Invariants:
//   1. A chunk is on one path at a time, the route in its record. A probe is a copy that nothing waits for.
//   2. Only chunks that this node made, and that have not arrived, change their path.
//   3. A chunk that went out before, such as one that an auxiliary path has failed, takes the primary path and stays
//      there, however busy that is. Only when nothing moves there may it try an auxiliary path again.
#ifndef BANYAN_NODE_PEERS_CHUNK_SENDER_H_
#define BANYAN_NODE_PEERS_CHUNK_SENDER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/chunk_in_flight.h"
#include "node/peers/auxiliary_selector.h"
#include "node/peers/delivery_tracker.h"
#include "node/peers/link_prober.h"
#include "node/peers/neighbour_table.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "proto/peer_messages.h"
#include "proto/policy_slice.h"

namespace banyan {

class ChunkSender {
 public:
  // `self` is this node. `resend_after` is the shortest wait for a delivery ack. `neighbours` outlives the sender.
  ChunkSender(NodeId self, absl::Duration resend_after, NeighbourTable* neighbours)
      : neighbours_(neighbours), tracker_(resend_after), selector_(self) {}

  // Learns the paths of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below `oldest`.
  void RetirePolicies(PolicyVersion oldest);

  // Sends a chunk on the path in its route. Where a link is to be measured, a copy goes over that. REQUIRES: the
  // receiver is a neighbour.
  void Send(StepContext& step, ChunkMessage message, Payload payload);
  // Sends a chunk again, on the primary path of its policy; drops one for which nobody waits.
  void SendOnPrimary(StepContext& step, const ChunkPtr& chunk);
  // Sends chunks whose delivery ack is overdue again: those on an auxiliary path on the primary one.
  void ResendOverdue(StepContext& step);
  // Moves chunks that wait for busy primary paths to auxiliary paths that have room.
  void Fill(StepContext& step);

  // Notes that the first hop has `chunk`; its destination too when that is the first hop and `is_delivered`.
  void OnLinkAck(ChunkInFlight& chunk, bool is_delivered, Timestamp now);
  void OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now);
  // What a relay on an auxiliary path has refused takes the primary one at once. The others wait for a grant.
  void OnBusy(StepContext& step, const Busy& busy);
  void OnGrant(StepContext& step, const Grant& grant);
  // Drops the chunks of a round that is closed everywhere: they are not sent again.
  void DropRound(KeyId key, Round round);
  // Drops all chunks. REQUIRES: the links drop theirs too.
  void Clear();
  // Looks at the neighbour's meter if that was not done of late.
  void LookAtMeter(Neighbour& neighbour, Timestamp now) const;

  const DeliveryTracker& tracker() const { return tracker_; }
  const AuxiliarySelector& selector() const { return selector_; }

 private:
  using Path = AuxiliarySelector::Path;

  // Puts a chunk that no link has on another path.
  void PutOn(ChunkInFlight& chunk, const Path& path, bool is_auxiliary);
  // Puts a chunk into the queue of the link to its receiver. `resend` when it went out before.
  void HandToLink(StepContext& step, const ChunkPtr& chunk, bool resend);
  // Sends chunks again, each on its path if that is the primary one, else on the primary one.
  void Resend(StepContext& step, const std::vector<ChunkPtr>& chunks);
  // Sends a copy of the chunk over an auxiliary path that is to be measured, if one is.
  void MaybeProbe(StepContext& step, const ChunkInFlight& chunk);
  // Moves what waits for the link to `first`, until nothing more wants to or finds room.
  void FillFrom(StepContext& step, Neighbour& first);
  // Returns an auxiliary path for a chunk in the queue of the link to `first`, where its primary path begins; null when
  // none is better. `is_stuck`: nothing moves on that link.
  const Path* PathFor(const Neighbour& first, bool is_stuck, const ChunkInFlight& chunk, Timestamp now) const;
  // Returns the bytes before such a chunk on its primary path.
  int64_t PrimaryLoad(const Neighbour& first, const ChunkInFlight& chunk) const;
  // Returns whether the link to `node` is there and would send a chunk at once.
  bool HasRoom(NodeId node) const;

  NeighbourTable* neighbours_;
  DeliveryTracker tracker_;
  AuxiliarySelector selector_;
  LinkProber prober_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_CHUNK_SENDER_H_
