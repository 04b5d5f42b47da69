// Everything that this node holds of one neighbour in one incarnation. Who drops a Neighbour drops its connections, its
// queues, what was learned of its link and all that waits for it. Thread-compatible; owned by NeighbourTable.
#ifndef BANYAN_NODE_PEERS_NEIGHBOUR_H_
#define BANYAN_NODE_PEERS_NEIGHBOUR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "awareness/link_meter.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/pace_search.h"
#include "node/link/peer_link.h"
#include "node/peers/control_connection.h"
#include "node/peers/heartbeats.h"
#include "node/step_context.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// How a round went on the link to a neighbour.
struct LinkRound {
  NodeId neighbour;
  int64_t sent_bytes = 0;  // with headers, without resends
  absl::Duration busy;     // with a chunk on its way
  bool resent = false;     // something had to be sent again
  // The part of results in levels that left in time; 1 where there were none.
  double results_in_time = 1;
};

struct Neighbour {
  NeighbourSlice slice;         // of the newest policy that names it
  PolicyVersion newest_policy;  // that names it
  ControlConnection control;
  PeerLink link;
  LinkMeter meter;
  Heartbeats heartbeats;
  std::optional<Timestamp> unnamed_since = {};  // no policy in force names it any more
  std::string unreadable = {};                  // why the last of its messages that do not decode did not

  // The connection on which its heartbeats come, and since when.
  std::optional<ConnectionId> heard_on = {};
  Timestamp heard_on_since = {};
  // Why the control connection is not made, or is ended again by whoever answers. Empty from its first echo on, and
  // while nothing has failed.
  std::string unreachable = {};
  std::optional<Timestamp> unreachable_since = {};
  bool is_out_of_reach = false;  // for so long that it was said

  PeerLink::Counters before_round = {};  // the link's counters at the end of the last round
  // The highest rate of late, for the choice of auxiliary paths, and when the meter was asked. 0 when unknown.
  double fastest_bps = 0;
  Timestamp measured_at = {};
  PaceSearch pace_search = {};

  // Ends a round that took `took`, empty when unknown, and counts its busy share. Tells how the round went on the link.
  LinkRound EndRound(std::optional<absl::Duration> took, Timestamp now);
  // Notes that a connection is made anew over which nothing passed for so long; the first, second, fourth ... is
  // logged.
  void NoteRenewal(StepContext& step, absl::Duration silence);
  // Returns what the meter says of the link.
  PaceSearch::Shown Shown(Timestamp now) const;
  // Returns what the link did so far, and its measurement when it `is_measured`.
  NodeReport::Link Report(bool is_measured, Timestamp now) const;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_NEIGHBOUR_H_
