// The record of a policy that was put into force, and what is recorded of precision routes. Part of state_record.h,
// which is what others use. Plain values.
#ifndef BANYAN_SCHEDULER_STATE_POLICY_RECORD_H_
#define BANYAN_SCHEDULER_STATE_POLICY_RECORD_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "precision/control/learned_controls.h"
#include "proto/policy_slice.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// The text of the overlay that a reconfiguration brought.
struct OverlayText {
  std::string yaml;
  std::string file_name;
  friend bool operator==(const OverlayText&, const OverlayText&) = default;
};

struct GuardedSize {
  int64_t elements = 0;
  int64_t element_bytes = 4;  // on their way in full precision
  friend auto operator<=>(const GuardedSize&, const GuardedSize&) = default;
};

// The decisions on precision routes by which rounds are bound from now on.
struct PrecisionState {
  bool is_decided = false;            // the warm-up is over
  std::vector<std::string> admitted;  // scopes, in rising order
  bool is_vetoed = false;             // admitted scopes have the route kFallback
  // Scopes that an operator has vetoed, in rising order, whose route is kFallback once they are admitted.
  std::vector<std::string> ordered;
  // Sizes of slices whose low-bit rounds would take longer, in rising order: they stay plain.
  std::vector<GuardedSize> guarded;
  uint64_t profile_digest = 0;  // of the profile under which the warm-up was judged
  std::optional<LearnedControls> learned;
  friend bool operator==(const PrecisionState&, const PrecisionState&) = default;
};

// A policy was put into force. The record has all that its slices and the next policy build on, so that a restarted
// scheduler goes on with it.
struct PolicyRecord {
  Policy policy;
  std::string reason;  // why it was made
  TransmissionSettings transmission;
  std::vector<NetworkLink> measured;   // links whose values were measured; the others are as the overlay says
  std::optional<OverlayText> overlay;  // when a reconfiguration made the policy
  NodeId source;                       // whose values a kBroadcast round takes
  // The links of the overlay that the policy was made without: from and to.
  std::vector<std::pair<NodeId, NodeId>> left_out;
  friend bool operator==(const PolicyRecord&, const PolicyRecord&) = default;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_POLICY_RECORD_H_
